package members

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Member is a name of a JSON object with its value.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Object is the members of a JSON object, in their order.
type Object []Member

// Of takes a JSON object apart; ok is false for anything else.
func Of(raw json.RawMessage) (out Object, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		m := Member{Name: name.(string)} // the decoder gives no other name
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

// Get is the value under a name, the first of several; nil = there is none.
func (o Object) Get(name string) json.RawMessage {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// JSON writes the object, its values as they are.
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
