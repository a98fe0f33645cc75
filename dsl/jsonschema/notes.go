package jsonschema

import (
	"reflect"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// NewTracked is like New, with notes for pex's own language server. A value whose
// text has a meaning gets "x-pex": {"is": "prompt", "template", "expression",
// "filter", "schema", "llm", "agent", "file"}, with the struct tags "vars", "env"
// and "words", which define what it may name.
func NewTracked(catalog engine.Catalog, checks component.Blueprints) []byte {
	return (&writer{catalog: catalog, checks: checks, defs: syntax.NewMap(), withNotes: true}).schema()
}

// meanings maps the types whose text has a meaning.
var meanings = map[reflect.Type]string{
	config.PromptRefType: "prompt", config.TemplateType: "template", config.AnyValueType: "template", config.GuardRefType: "expression",
	config.FilterRefType: "filter", config.SchemaRefType: "schema", config.ModelRefType: "llm", config.AgentRefType: "agent",
}

func (s *writer) note(v *syntax.Node, of reflect.Value, tag reflect.StructTag) *syntax.Node {
	is := meanings[of.Type()]
	if of.Kind() == reflect.String && (tag.Get("path") != "" || tag.Get("file") != "") {
		is = "file"
	}
	if !s.withNotes || is == "" {
		return v
	}
	n := syntax.NewMap("is", syntax.NewText(is))
	for _, key := range []string{"vars", "env", "words"} {
		if t := tag.Get(key); t != "" {
			n.Set(key, syntax.Position{}, syntax.NewText(t))
		}
	}
	v.Set("x-pex", syntax.Position{}, n)
	return v
}

// exemplify adds the examples of a field: those of its tag, separated by |, its
// words, and the notation of durations.
func (s *writer) exemplify(v *syntax.Node, f config.Field) {
	examples := syntax.NewList()
	for _, tag := range []string{"example", "words"} {
		for _, w := range config.Words(f.Tag.Get(tag)) {
			examples.Items = append(examples.Items, &syntax.Node{Kind: syntax.PlainKind(w), Text: w})
		}
	}
	if f.Value.Type() == config.DurationType && len(examples.Items) == 0 {
		examples = syntax.NewTexts("90s", "15m")
	}
	if f.Value.Type() == config.SizeType && len(examples.Items) == 0 {
		examples = syntax.NewTexts("64KiB", "1MiB")
	}
	if len(examples.Items) > 0 {
		v.Set("examples", syntax.Position{}, examples)
	}
}

// markdown adds the form that editors show on hover, if it has more than the
// description: the default.
func markdown(v *syntax.Node) *syntax.Node {
	doc, d := v.Get("description"), v.Get("default")
	if doc != nil && d != nil {
		v.Set("markdownDescription", syntax.Position{}, syntax.NewText(doc.Text+"\n\nDefault: `"+strings.ReplaceAll(d.Text, "`", "'")+"`"))
	}
	return v
}

// oneOfTypes restricts a key to the types of components, each with its
// documentation.
func oneOfTypes(v *syntax.Node, infos []component.Info) {
	if len(infos) == 0 {
		return
	}
	types, docs := syntax.NewList(), syntax.NewList()
	for _, i := range infos {
		types.Items, docs.Items = append(types.Items, syntax.NewText(i.Type)), append(docs.Items, syntax.NewText(i.Doc))
	}
	v.Drop("type")
	v.Set("enum", syntax.Position{}, types)
	v.Set("enumDescriptions", syntax.Position{}, docs)
}

// kindDocs returns the documentation of each kind.
func kindDocs() []string {
	docs := map[string]string{
		specfs.KindAgent: "An agent, run with pexctl run.", specfs.KindLibrary: "Shared LLMs, tools and prompts, for include.",
		specfs.KindTests: "Test cases for pexctl test.", specfs.KindSuite: "An evaluation suite for pexctl eval.", specfs.KindPrices: "Prices of models, for --prices.",
		specfs.KindServer: "A server of agents, started with pexctl serve.", specfs.KindTokens: "The tokens of a server's clients.",
	}
	out := make([]string, len(specfs.Kinds))
	for i, k := range specfs.Kinds {
		out[i] = docs[k]
	}
	return out
}

// schemaOrPointer accepts a JSON Schema, or a reference to one.
func schemaOrPointer() *syntax.Node {
	v := typed("object", "boolean")
	v.Set("properties", syntax.Position{}, syntax.NewMap(
		"file", syntax.NewMap("description", syntax.NewText("A file with the schema. No other keys are allowed next to it.")),
		"use", syntax.NewMap("description", syntax.NewText("The name of a prompt whose text is the schema. No other keys are allowed next to it.")),
	))
	return v
}
