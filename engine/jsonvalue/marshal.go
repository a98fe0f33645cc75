package jsonvalue

import (
	"bytes"
	"encoding/json"
	"sync"
	"unicode/utf8"
)

// encoder is a pooled buffer with its encoder.
type encoder struct {
	buf  bytes.Buffer
	json *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.json = json.NewEncoder(&e.buf)
	e.json.SetEscapeHTML(false)
	return e
}}

// done returns the encoder to the pool, unless its buffer grew large.
func (e *encoder) done() {
	if e.buf.Cap() <= maxBuffer {
		e.buf.Reset()
		encoders.Put(e)
	}
}

// maxBuffer is the largest buffer kept for reuse.
const maxBuffer = 64 << 10

// Marshal returns v as JSON on one line, in valid UTF-8 and without HTML escapes.
func Marshal(v any) ([]byte, error) {
	e, _ := encoders.Get().(*encoder)
	defer e.done()
	if err := e.json.Encode(v); err != nil {
		return nil, err
	}
	b := bytes.Clone(e.buf.Bytes()[:e.buf.Len()-1])
	if !utf8.Valid(b) { // a json.RawMessage may contain invalid UTF-8
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return b, nil
}

// MarshalIndent is Marshal with an indentation of two spaces.
func MarshalIndent(v any) ([]byte, error) {
	b, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Indent(&out, b, "", "  ")
	return out.Bytes(), err
}

// Quote returns s as a JSON string with its quotes.
func Quote(s string) string { return string(Encode(s)) }

// Unmarshal decodes the first JSON value of b into v. Numbers in an any are json.Number
// with all digits.
func Unmarshal(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}
