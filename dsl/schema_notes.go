package dsl

import (
	"reflect"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// NotedSchema is Schema with notes for our own editor support. Beside a value
// whose text means something stands "x-pex": {"is": "prompt", "template",
// "expression", "filter", "schema", "llm", "agent", "file"}, with the struct
// tags "vars", "env" and "words" that say what it may name.
func NotedSchema(catalog engine.Catalog, checks component.Blueprints) []byte {
	return (&schemer{catalog: catalog, checks: checks, defs: object(), noting: true}).schema()
}

// meanings are the types whose texts mean something.
var meanings = map[reflect.Type]string{
	promptRefType: "prompt", templateType: "template", anyValueType: "template", guardRefType: "expression",
	filterRefType: "filter", schemaRefType: "schema", modelRefType: "llm", agentRefType: "agent",
}

func (s *schemer) note(v *value, of reflect.Value, tag reflect.StructTag) *value {
	is := meanings[of.Type()]
	if of.Kind() == reflect.String && (tag.Get("path") != "" || tag.Get("file") != "") {
		is = "file"
	}
	if !s.noting || is == "" {
		return v
	}
	n := object("is", word(is))
	for _, key := range []string{"vars", "env", "words"} {
		if t := tag.Get(key); t != "" {
			n.set(key, place{}, word(t))
		}
	}
	v.set("x-pex", place{}, n)
	return v
}

// exemplify adds the examples of a field: those of its tag, divided by |, the
// words that stand for themselves, and of durations how they are written.
func (s *schemer) exemplify(v *value, f field) {
	examples := array()
	for _, tag := range []string{"example", "words"} {
		for _, w := range words(f.tag.Get(tag)) {
			examples.items = append(examples.items, &value{kind: plainKind(w), text: w})
		}
	}
	if f.value.Type() == durationType && len(examples.items) == 0 {
		examples = texts("90s", "15m")
	}
	if len(examples.items) > 0 {
		v.set("examples", place{}, examples)
	}
}

// markdown adds the form that editors show on hover, where it says more than
// the description: the default.
func markdown(v *value) *value {
	doc, d := v.get("description"), v.get("default")
	if doc != nil && d != nil {
		v.set("markdownDescription", place{}, word(doc.text+"\n\nDefault: `"+strings.ReplaceAll(d.text, "`", "'")+"`"))
	}
	return v
}

// oneOfTypes makes a key one of the types of components, each with its doc.
func oneOfTypes(v *value, infos []component.Info) {
	if len(infos) == 0 {
		return
	}
	types, docs := array(), array()
	for _, i := range infos {
		types.items, docs.items = append(types.items, word(i.Type)), append(docs.items, word(i.Doc))
	}
	v.drop("type")
	v.set("enum", place{}, types)
	v.set("enumDescriptions", place{}, docs)
}

// kindDocs says of each of the kinds what it is.
func kindDocs() []string {
	docs := map[string]string{
		kindAgent: "An agent: what pexctl run runs.", kindLibrary: "Shared llms, tools and prompts, for include.",
		kindTests: "Cases for pexctl test.", kindSuite: "An evaluation for pexctl eval.", kindPrices: "Prices of models, for --prices.",
	}
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = docs[k]
	}
	return out
}

// schemaOrPointer is a JSON Schema, or where one is.
func schemaOrPointer() *value {
	v := typed("object", "boolean")
	v.set("properties", place{}, object(
		"file", object("description", word("A file with the schema; it then stands alone.")),
		"use", object("description", word("A name of prompts whose text is the schema; it then stands alone.")),
	))
	return v
}
