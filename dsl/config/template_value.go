package config

import (
	"reflect"

	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
)

// ValueRef decodes any value and compiles its texts as templates.
func (c *Decoder) ValueRef(v *syntax.Node, tag reflect.StructTag, to *component.Value) {
	to.JSON = v.AppendJSON(nil)
	fill, where := c.compileValue(v, tag), v.Position.String()
	to.Bind(func(l component.Lookup) any {
		out := fill(l)
		if textSize(out) > prompt.MaxRendered {
			panic(&component.TooLarge{Template: where, Limit: prompt.MaxRendered})
		}
		return out
	})
}

// textSize counts the bytes of the texts in a value. Values share texts, so the
// count may exceed the memory they use.
func textSize(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		n = len(v)
	case []any:
		for _, item := range v {
			n += textSize(item)
		}
	case map[string]any:
		for key, member := range v {
			n += len(key) + textSize(member)
		}
	}
	return n
}

// compileValue compiles the templates in a value and returns a function that
// renders them.
func (c *Decoder) compileValue(v *syntax.Node, tag reflect.StructTag) func(component.Lookup) any {
	switch v.Kind {
	case syntax.Text:
		t := c.template(v, tag)
		return func(l component.Lookup) any {
			if whole, ok := t.Whole(l); ok {
				return whole
			}
			return t.Text(l)
		}
	case syntax.List:
		items := make([]func(component.Lookup) any, len(v.Items))
		for i, it := range v.Items {
			items[i] = c.compileValue(it, tag)
		}
		return func(l component.Lookup) any {
			out := make([]any, len(items))
			for i := range items {
				out[i] = items[i](l)
			}
			return out
		}
	case syntax.Map:
		members := make(map[string]func(component.Lookup) any, len(v.Entries))
		for _, e := range v.Entries {
			members[e.Key] = c.compileValue(e.Value, tag)
		}
		return func(l component.Lookup) any {
			out := make(map[string]any, len(members))
			for key := range members {
				out[key] = members[key](l)
			}
			return out
		}
	default:
		fixed := v.JSONValue()
		return func(component.Lookup) any { return fixed }
	}
}
