package jsonvalue

import (
	"bytes"
	"encoding/json"
	"sync"
	"unicode/utf8"
)

// encoder is a buffer and what writes into it.
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

// done gives the encoder back; a buffer that grew large is not kept.
func (e *encoder) done() {
	if e.buf.Cap() <= maxBuffer {
		e.buf.Reset()
		encoders.Put(e)
	}
}

// maxBuffer is the size up to which a buffer is kept to be used again.
const maxBuffer = 64 << 10

// Marshal returns v as JSON on one line, in valid UTF-8 and without HTML escapes,
// which would be hard to read in a journal.
func Marshal(v any) ([]byte, error) {
	e, _ := encoders.Get().(*encoder)
	defer e.done()
	if err := e.json.Encode(v); err != nil {
		return nil, err
	}
	b := bytes.Clone(e.buf.Bytes()[:e.buf.Len()-1])
	if !utf8.Valid(b) { // a json.RawMessage may hold anything within its strings
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	return b, nil
}

// MarshalIndent is Marshal with two spaces a level, for people.
func MarshalIndent(v any) ([]byte, error) {
	b, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = json.Indent(&out, b, "", "  ")
	return out.Bytes(), err
}

// Quote returns s as a JSON string, in its quotes.
func Quote(s string) string { return string(Encode(s)) }

// Unmarshal reads the first JSON value of b into v. A number that goes into an
// any is a json.Number: it keeps all its digits.
func Unmarshal(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}
