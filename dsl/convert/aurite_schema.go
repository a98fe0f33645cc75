package convert

import "slices"

// looseReason stands in a spec whose answer OpenAI does not hold to its schema.
const looseReason = "pex:ignore-file PEX094 as in Aurite, an answer is held against the schema when it is there"

// tolerant notes that a provider which writes by a schema does not do so by
// this one.
func (m *project) tolerant(c *component, role mapping) {
	at := schemaOf(c)
	var llm mapping
	if base := m.baseOf(c); base != nil {
		llm = m.llms[m.llm(base)]
	} else {
		llm = m.ownModel(c)
	}
	provider, elsewhere := llm.get("provider"), llm.has("base_url") || role.has("base_url")
	if provider != "azure_openai" && (provider != "openai" || elsewhere) || !loose(at, true) {
		return
	}
	c.remark = looseReason
	m.note(at, Changed, "OpenAI holds a model only to schemas whose objects all say additionalProperties: false and require all they have; by this one the answer is checked afterwards, as in Aurite")
}

// loose says that a schema leaves open what an object holds.
func loose(it *item, root bool) bool {
	if it == nil || it.kind != object {
		return true
	}
	properties, required := it.at("properties"), it.at("required")
	typ := it.at("type").peek()
	if root && typ != "object" {
		return true
	}
	if typ == "object" || properties != nil {
		if closed, ok := it.at("additionalProperties").truth(); !ok || closed {
			return true
		}
		if properties != nil && slices.ContainsFunc(properties.keys, func(key string) bool {
			return required == nil || !slices.ContainsFunc(required.items, func(r *item) bool { return r.peek() == key })
		}) {
			return true
		}
	}
	var inner []*item
	for _, key := range []string{"properties", "$defs", "definitions", "anyOf"} {
		if at := it.at(key); at != nil {
			inner = append(inner, at.items...)
		}
	}
	if items := it.at("items"); items != nil {
		inner = append(inner, items)
	}
	return slices.ContainsFunc(inner, func(sub *item) bool { return loose(sub, false) })
}
