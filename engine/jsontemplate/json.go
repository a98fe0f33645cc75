package jsontemplate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Text is how a value reads within a text: a string as it is, anything
// else as JSON.
func Text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := Encode(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// Encode writes JSON as it is, without escapes for HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads one JSON value, numbers as they are written.
func Decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind the value")
	}
	return nil
}
