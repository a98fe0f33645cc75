package openai

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

var _ model.SchemaHolder = (*MistralConfig)(nil)

// Unheld implements model.model.SchemaHolder. What a server at another address does
// with a schema is not known.
func (c *MistralConfig) Unheld(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != "json_schema" || s.BaseURL != "" {
		return nil
	}
	return mistralUnheld(schema)
}

// mistralUnheld is what of a schema breaks the one rule that Mistral's strict
// mode is known to have: an object says whether it takes other properties.
//
// The rule: client-python's rec_strict_json_schema, which writes what the strict
// mode is given; docs.mistral.ai, under custom structured output, has no list.
func mistralUnheld(schema json.RawMessage) component.Faults {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	l := &lookout{}
	l.said("", root)
	return l.found
}

// said looks at the objects of a schema and of all that is in it.
func (l *lookout) said(at string, v any) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	if open, said := s["additionalProperties"]; isObject(s) && (!said || open == true) {
		l.add(at, "the object takes other properties than its own", "write additionalProperties: false")
	}
	for _, word := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[word].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(inner)) {
			l.said(at+"/"+word+component.Key(name), inner[name])
		}
	}
	for _, word := range []string{"items", "additionalProperties"} {
		l.said(at+"/"+word, s[word])
	}
	for _, word := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		list, _ := s[word].([]any)
		for i, inner := range list {
			l.said(at+"/"+word+"/"+strconv.Itoa(i), inner)
		}
	}
}
