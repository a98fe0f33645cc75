package orderedjson

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Member is a member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Object is a JSON object with ordered members.
type Object []Member

// Parse parses a JSON object; ok is false for anything else.
func Parse(raw json.RawMessage) (out Object, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		m := Member{Name: name.(string)} // the decoder allows no other type
		if d.Decode(&m.Value) != nil {
			return nil, false
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return out, err == io.EOF
}

// Get returns the first value of a name, or nil.
func (o Object) Get(name string) json.RawMessage {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// JSON encodes the object with its values unchanged.
func (o Object) JSON() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsonvalue.Quote(m.Name))
		b.WriteByte(':')
		b.Write(m.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
