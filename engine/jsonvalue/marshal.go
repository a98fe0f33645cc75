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
