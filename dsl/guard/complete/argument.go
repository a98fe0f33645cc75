package complete

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/guard"
)

// toolsNamedIn returns the tools whose names occur in quotes in an expression, or all
// tools if none does.
func toolsNamedIn(src string, tools []guard.Tool) []guard.Tool {
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

// argumentsOf returns the declared arguments of tools, or nil if there are none.
func argumentsOf(tools []guard.Tool) (out []argument) {
	for i := range tools {
		if schema, ok := guard.FlattenSchema(tools[i].Input).(map[string]any); ok {
			out = append(out, argument{tools[i].Name, schema})
		}
	}
	return out
}

// argument returns an argument by name, or a field in one.
func (t typed) argument(name string) typed {
	return t.inArgument(name, func(schema map[string]any) any {
		properties, _ := schema["properties"].(map[string]any)
		return properties[name]
	})
}

// inArgument returns a part of the tools' declarations of an argument, or the
// zero value if no tool declares it.
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

// enumOf returns the texts that a schema allows, or nil for any.
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
