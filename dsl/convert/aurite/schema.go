package aurite

import (
	"slices"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/internal/tree"
)

// looseReason is the comment in a spec with an answer schema that OpenAI cannot
// enforce.
const looseReason = "pex:ignore-file PEX094 as in Aurite, an answer is held against the schema when it is there"

// allowSchemaFailure notes that the provider does not enforce this schema.
func (m *project) allowSchemaFailure(c *component, role tree.Map) {
	at := schemaOf(c)
	var llm tree.Map
	if base := m.baseOf(c); base != nil {
		llm = m.llms[m.llm(base)]
	} else {
		llm = m.ownModel(c)
	}
	provider, elsewhere := llm.Get("provider"), llm.Has("base_url") || role.Has("base_url")
	if provider != "azure_openai" && (provider != "openai" || elsewhere) || !isOpen(at, true) {
		return
	}
	c.comment = looseReason
	m.Note(at, convert.Changed, "OpenAI holds a model only to schemas whose objects all say additionalProperties: false and require all they have; by this one the answer is checked afterwards, as in Aurite")
}

// isOpen reports whether a schema allows unknown members of an object.
func isOpen(it *tree.Value, root bool) bool {
	if it == nil || it.Kind != tree.Object {
		return true
	}
	properties, required := it.Get("properties"), it.Get("required")
	typ := it.Get("type").Peek()
	if root && typ != "object" {
		return true
	}
	if typ == "object" || properties != nil {
		if closed, ok := it.Get("additionalProperties").UseBool(); !ok || closed {
			return true
		}
		if properties != nil && slices.ContainsFunc(properties.Keys, func(key string) bool {
			return required == nil || !slices.ContainsFunc(required.Items, func(r *tree.Value) bool { return r.Peek() == key })
		}) {
			return true
		}
	}
	var inner []*tree.Value
	for _, key := range []string{"properties", "$defs", "definitions", "anyOf"} {
		if at := it.Get(key); at != nil {
			inner = append(inner, at.Items...)
		}
	}
	if items := it.Get("items"); items != nil {
		inner = append(inner, items)
	}
	return slices.ContainsFunc(inner, func(sub *tree.Value) bool { return isOpen(sub, false) })
}
