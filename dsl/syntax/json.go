package syntax

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// AppendJSON appends a value as compact JSON, with keys in their order.
func (v *Node) AppendJSON(b []byte) []byte {
	switch v.Kind {
	case List:
		b = append(b, '[')
		for i, it := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = it.AppendJSON(b)
		}
		return append(b, ']')
	case Map:
		b = append(b, '{')
		for i, e := range v.Entries {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, e.Key), ':')
			b = e.Value.AppendJSON(b)
		}
		return append(b, '}')
	case Text:
		return appendText(b, v.Text)
	case Int, Float:
		return append(b, v.Number()...)
	case Bool:
		return fmt.Appendf(b, "%t", v.Bool())
	default:
		return append(b, "null"...)
	}
}

func appendText(b []byte, s string) []byte {
	return append(b, jsonvalue.Quote(s)...)
}

// maxResolved is the maximum size of the Source of a Program: specs and files
// together.
const maxResolved = 32 << 20

// ParseJSON parses the Source of a Program. Every value has the position of the
// whole.
func ParseJSON(src *Source) (*Node, error) {
	if len(src.Text) > maxResolved {
		return nil, fmt.Errorf("the program source is too large: %d bytes", len(src.Text))
	}
	d := json.NewDecoder(bytes.NewReader(src.Text))
	d.UseNumber()
	v, err := jsonValue(d, Position{src, 1, 1}, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("unexpected text after the JSON value")
	}
	return v, nil
}

func jsonValue(d *json.Decoder, at Position, depth int) (*Node, error) {
	if depth > 4*maxDepth {
		return nil, errors.New("values are nested too deeply")
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	v := &Node{Position: at, Style: DoubleQuoted}
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return v, jsonList(d, v, depth)
		}
		return v, jsonDict(d, v, depth)
	case string:
		v.Kind, v.Text = Text, t
	case json.Number:
		v.Kind, v.Text = PlainKind(t.String()), t.String()
	case bool:
		v.Kind, v.Text = Bool, fmt.Sprint(t)
	}
	return v, nil
}

func jsonList(d *json.Decoder, v *Node, depth int) error {
	v.Kind = List
	for d.More() {
		it, err := jsonValue(d, v.Position, depth+1)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, it)
	}
	_, err := d.Token()
	return err
}

func jsonDict(d *json.Decoder, v *Node, depth int) error {
	v.Kind = Map
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return err
		}
		it, err := jsonValue(d, v.Position, depth+1)
		if err != nil {
			return err
		}
		v.Entries = append(v.Entries, &Entry{k.(string), v.Position, it})
	}
	_, err := d.Token()
	return err
}
