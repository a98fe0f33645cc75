package bedrock

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// unsayable are keywords that Bedrock's schemas have no means for, and without
// which a schema would be another.
var unsayable = []string{
	"$ref", "$dynamicRef", "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
	"patternProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "contains", "prefixItems", "additionalItems",
}

// needless are keywords that bound a value: without them more is allowed, and
// the caller validates in any case.
var needless = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "format",
	"minItems", "maxItems", "uniqueItems", "minContains", "maxContains", "minProperties", "maxProperties",
	"$schema", "$id", "$comment", "$defs", "definitions", "default", "examples", "readOnly", "writeOnly", "deprecated",
}

// native writes a schema as Bedrock's structured output takes it: every object
// closed, no bounds. ok is false where that cannot be: an object with open
// keys, a choice between schemas, a reference.
func native(schema json.RawMessage) (out json.RawMessage, ok bool) {
	root, err := parse(schema)
	if err != nil || !slices.Contains(kinds(root), "object") || len(kinds(root)) != 1 || !root.close() {
		return nil, false
	}
	out, err = json.Marshal(root)
	return out, err == nil
}

// schemaNode is a JSON object whose keys keep their order: models write their
// replies in it.
type schemaNode []keyword

type keyword struct {
	name  string
	value json.RawMessage
}

func parse(text json.RawMessage) (schemaNode, error) {
	if !json.Valid(text) {
		return nil, errors.New("not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not an object")
	}
	out := schemaNode{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		key, _ := name.(string) // what else is a key of valid JSON
		out = append(out, keyword{key, value})
	}
	return out, nil
}

// MarshalJSON implements json.Marshaler.
func (n schemaNode) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, k := range n {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(k.name)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), k.value...)
	}
	return append(b, '}'), nil
}

func (n schemaNode) get(name string) json.RawMessage {
	for _, k := range n {
		if k.name == name {
			return k.value
		}
	}
	return nil
}

// kinds are the types that a schema names.
func kinds(n schemaNode) []string {
	var one string
	var many []string
	if json.Unmarshal(n.get("type"), &one) == nil {
		return []string{one}
	}
	_ = json.Unmarshal(n.get("type"), &many) // neither: none are named
	return many
}

// close rewrites a schema in place and says whether that was possible.
func (n *schemaNode) close() bool {
	for _, k := range *n {
		if slices.Contains(unsayable, k.name) {
			return false
		}
	}
	*n = slices.DeleteFunc(*n, func(k keyword) bool { return slices.Contains(needless, k.name) })
	if n.get("type") == nil && n.get("enum") == nil && n.get("const") == nil && n.get("anyOf") == nil {
		return false
	}
	for i, k := range *n {
		var ok bool
		switch k.name {
		case "properties":
			(*n)[i].value, ok = closeEach(k.value)
		case "items":
			(*n)[i].value, ok = closeOne(k.value)
		case "anyOf":
			(*n)[i].value, ok = closeList(k.value)
		default:
			ok = true
		}
		if !ok {
			return false
		}
	}
	return n.shut()
}

// shut closes the keys of an object; lists must say what they hold.
func (n *schemaNode) shut() bool {
	types := kinds(*n)
	if slices.Contains(types, "array") && n.get("items") == nil {
		return false
	}
	if !slices.Contains(types, "object") {
		return true
	}
	open := n.get("additionalProperties")
	if n.get("properties") == nil || open != nil && string(open) != "false" {
		return false
	}
	if open == nil {
		*n = append(*n, keyword{"additionalProperties", json.RawMessage("false")})
	}
	return true
}

func closeOne(text json.RawMessage) (json.RawMessage, bool) {
	n, err := parse(text)
	if err != nil || !n.close() {
		return nil, false
	}
	out, err := json.Marshal(n)
	return out, err == nil
}

func closeEach(text json.RawMessage) (json.RawMessage, bool) {
	n, err := parse(text)
	if err != nil {
		return nil, false
	}
	for i := range n {
		var ok bool
		if n[i].value, ok = closeOne(n[i].value); !ok {
			return nil, false
		}
	}
	out, err := json.Marshal(n)
	return out, err == nil
}

func closeList(text json.RawMessage) (json.RawMessage, bool) {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return nil, false
	}
	for i := range list {
		var ok bool
		if list[i], ok = closeOne(list[i]); !ok {
			return nil, false
		}
	}
	out, err := json.Marshal(list)
	return out, err == nil
}
