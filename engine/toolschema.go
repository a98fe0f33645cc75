package engine

import (
	"bytes"
	"encoding/json"
	"slices"
)

// settable is a tool's schema as models are told it: without the arguments that
// the author fixed, which they could not set. What is left stands in the order
// it has. A schema that is no object stays as it is.
func settable(schema json.RawMessage, fixed []Fixed) json.RawMessage {
	isFixed := func(name string) bool {
		return slices.ContainsFunc(fixed, func(f Fixed) bool { return f.Name == name })
	}
	all, ok := membersOf(schema)
	if !ok || len(fixed) == 0 {
		return schema
	}
	for i, m := range all {
		switch m.name {
		case "properties":
			if inner, ok := membersOf(m.value); ok {
				all[i].value = object(slices.DeleteFunc(inner, func(p member) bool { return isFixed(p.name) }))
			}
		case "required":
			var names []string
			if json.Unmarshal(m.value, &names) == nil {
				all[i].value = encoded(emptyNotNil(slices.DeleteFunc(names, isFixed)))
			}
		}
	}
	return object(all)
}

// member is a name and a value of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf takes a JSON object apart, in order.
func membersOf(raw json.RawMessage) (out []member, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		m := member{name: name.(string)} // the decoder gives no other key
		if d.Decode(&m.value) != nil {
			return nil, false
		}
		out = append(out, m)
	}
	return out, true
}

// object puts members together again.
func object(all []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encoded(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
