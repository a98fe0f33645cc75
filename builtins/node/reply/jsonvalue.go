package reply

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	enginetext "github.com/pexctl/pex/engine/text"
)

// Decode reads one JSON value and keeps numbers as they are written, as schemas
// want them.
func Decode(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the value")
	}
	return v, nil
}

// Encode returns a value as JSON for texts and arguments; null for one that
// JSON does not have.
func Encode(v any) json.RawMessage {
	b, err := enginetext.JSON(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}
