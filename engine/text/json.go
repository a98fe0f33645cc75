package text

import (
	"bytes"
	"encoding/json"
)

// JSON returns v as JSON on one line, with no line end and without the escapes
// that only HTML needs: code is full of <, > and &.
func JSON(v any) ([]byte, error) { return encode(v, "") }

// Indented is JSON with two spaces a level, for people.
func Indented(v any) ([]byte, error) { return encode(v, "  ") }

// Quote returns s as a JSON string, in its quotes.
func Quote(s string) string {
	b, _ := JSON(s) // a string always encodes
	return string(b)
}

func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Decode reads the first JSON value of b into v. A number that goes into an
// any is a json.Number: it keeps all its digits.
func Decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}
