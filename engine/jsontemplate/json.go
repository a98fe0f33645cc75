package jsontemplate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Text returns a value as text: a string as it is, anything else as JSON.
func Text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, _ := jsonvalue.Marshal(v) // nil if it does not encode
	return string(b)
}

// Decode decodes exactly one JSON value, with numbers as json.Number.
func Decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after the value")
	}
	return nil
}
