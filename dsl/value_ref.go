package dsl

import (
	"encoding/json"
	"reflect"

	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine/component"
)

// valueRef reads any value, whose texts are templates.
func (c *compiler) valueRef(v *value, tag reflect.StructTag, to *component.Value) {
	to.JSON = v.appendJSON(nil)
	fill, where := c.filled(v, tag), v.place.String()
	to.Bind(func(l component.Lookup) any {
		out := fill(l)
		if textIn(out) > prompt.MaxRendered {
			panic(&component.TooLarge{Template: where, Limit: prompt.MaxRendered})
		}
		return out
	})
}

// textIn counts the bytes of the texts in a value. Values share texts, so the
// count may be larger than the memory they take.
func textIn(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		n = len(v)
	case []any:
		for _, item := range v {
			n += textIn(item)
		}
	case map[string]any:
		for key, member := range v {
			n += len(key) + textIn(member)
		}
	}
	return n
}

// filled compiles the templates in a value; what it gives fills them.
func (c *compiler) filled(v *value, tag reflect.StructTag) func(component.Lookup) any {
	switch v.kind {
	case text:
		t := c.template(v, tag)
		return func(l component.Lookup) any {
			if whole, ok := t.Whole(l); ok {
				return whole
			}
			return t.Text(l)
		}
	case list:
		items := make([]func(component.Lookup) any, len(v.items))
		for i, it := range v.items {
			items[i] = c.filled(it, tag)
		}
		return func(l component.Lookup) any {
			out := make([]any, len(items))
			for i := range items {
				out[i] = items[i](l)
			}
			return out
		}
	case dict:
		members := make(map[string]func(component.Lookup) any, len(v.entries))
		for _, e := range v.entries {
			members[e.key] = c.filled(e.val, tag)
		}
		return func(l component.Lookup) any {
			out := make(map[string]any, len(members))
			for key := range members {
				out[key] = members[key](l)
			}
			return out
		}
	default:
		fixed := v.plain(func(n json.Number) any { return n })
		return func(component.Lookup) any { return fixed }
	}
}
