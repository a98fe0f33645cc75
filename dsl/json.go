package dsl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// appendJSON writes a value as compact JSON, keys in the order of the value.
func (v *value) appendJSON(b []byte) []byte {
	switch v.kind {
	case list:
		b = append(b, '[')
		for i, it := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = it.appendJSON(b)
		}
		return append(b, ']')
	case dict:
		b = append(b, '{')
		for i, e := range v.entries {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, e.key), ':')
			b = e.val.appendJSON(b)
		}
		return append(b, '}')
	case text:
		return appendText(b, v.text)
	case integer, float:
		return append(b, v.jsonNumber()...)
	case boolean:
		return fmt.Appendf(b, "%t", v.isTrue())
	default:
		return append(b, "null"...)
	}
}

func appendText(b []byte, s string) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return append(b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// maxResolved bounds the Source of a Program: specs and files together.
const maxResolved = 32 << 20

// fromJSON reads the Source of a Program; every value has the place of the whole.
func fromJSON(src *source) (*value, error) {
	if len(src.text) > maxResolved {
		return nil, fmt.Errorf("%d bytes are more than a program's source may have", len(src.text))
	}
	d := json.NewDecoder(bytes.NewReader(src.text))
	d.UseNumber()
	v, err := jsonValue(d, place{src, 1, 1}, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON value")
	}
	return v, nil
}

func jsonValue(d *json.Decoder, at place, depth int) (*value, error) {
	if depth > 4*maxDepth {
		return nil, errors.New("nested too deeply")
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	v := &value{place: at, style: double}
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return v, jsonList(d, v, depth)
		}
		return v, jsonDict(d, v, depth)
	case string:
		v.kind, v.text = text, t
	case json.Number:
		v.kind, v.text = plainKind(t.String()), t.String()
	case bool:
		v.kind, v.text = boolean, fmt.Sprint(t)
	}
	return v, nil
}

func jsonList(d *json.Decoder, v *value, depth int) error {
	v.kind = list
	for d.More() {
		it, err := jsonValue(d, v.place, depth+1)
		if err != nil {
			return err
		}
		v.items = append(v.items, it)
	}
	_, err := d.Token()
	return err
}

func jsonDict(d *json.Decoder, v *value, depth int) error {
	v.kind = dict
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return err
		}
		it, err := jsonValue(d, v.place, depth+1)
		if err != nil {
			return err
		}
		v.entries = append(v.entries, &entry{k.(string), v.place, it})
	}
	_, err := d.Token()
	return err
}
