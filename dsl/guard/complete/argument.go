package complete

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/guard"
)

// namedIn are the tools that a quoted text in an expression names; all where none
// is named.
func namedIn(src string, tools []guard.Tool) []guard.Tool {
	var out []guard.Tool
	for i := range tools {
		if name := tools[i].Name; strings.Contains(src, `"`+name+`"`) || strings.Contains(src, "'"+name+"'") {
			out = append(out, tools[i])
		}
	}
	if out == nil {
		return tools
	}
	return out
}

// argumentsOf is what tools declare of their arguments; nil = nothing.
func argumentsOf(tools []guard.Tool) (out []argument) {
	for i := range tools {
		if schema, ok := guard.FlattenSchema(tools[i].Input).(map[string]any); ok {
			out = append(out, argument{tools[i].Name, schema})
		}
	}
	return out
}

// argument is an argument of a name, or a field in one.
func (t typed) argument(name string) typed {
	return t.inArgument(name, func(schema map[string]any) any {
		properties, _ := schema["properties"].(map[string]any)
		return properties[name]
	})
}

// inArgument is a part of what tools declare of an argument; the zero value where
// none declares it.
func (t typed) inArgument(name string, part func(schema map[string]any) any) typed {
	var out typed
	var docs, tools []string
	for _, a := range t.args {
		schema, ok := part(a.schema).(map[string]any)
		if !ok {
			continue
		}
		out.args = append(out.args, argument{a.tool, schema})
		tools = append(tools, a.tool)
		if doc, _ := schema["description"].(string); doc != "" && !slices.Contains(docs, doc) {
			docs = append(docs, doc)
		}
		for _, w := range enumOf(schema) {
			if !slices.Contains(out.member.Words, w) {
				out.member.Words = append(out.member.Words, w)
			}
		}
		switch kind := kindName(guard.TypeOf(schema)); out.member.Type {
		case "", kind:
			out.member.Type = kind
		default:
			out.member.Type = "any value"
		}
	}
	if out.args == nil {
		return out
	}
	out.member.Name = name
	out.member.Doc = strings.Join(append(docs, "An argument of "+strings.Join(tools, ", ")+"."), "\n\n")
	return out
}

// enumOf are the texts that a schema allows; nil = any.
func enumOf(schema map[string]any) (words []string) {
	list, _ := schema["enum"].([]any)
	if c, ok := schema["const"]; ok {
		list = []any{c}
	}
	for _, v := range list {
		if word, ok := v.(string); ok {
			words = append(words, word)
		}
	}
	return words
}
