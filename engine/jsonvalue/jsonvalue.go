package jsonvalue

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/text"
)

// Encode is v as JSON; what the engine encodes is made of strings, numbers
// and JSON that was checked.
func Encode(v any) []byte {
	b, err := journal.Encode(v)
	if err != nil {
		return []byte("null")
	}
	return b
}

// Decode is JSON that was checked, numbers with the digits they were written with.
func Decode(b []byte) (v any) {
	_ = text.Decode(b, &v)
	return v
}

// Plain is JSON that was checked, as expressions want it: numbers are int
// where they are whole, else float64.
func Plain(b []byte) any { return Normalize(Decode(b)) }

func Normalize(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return int(i)
		}
		f, _ := v.Float64() // the decoder checked it
		return f
	case []any:
		for i := range v {
			v[i] = Normalize(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = Normalize(v[k])
		}
	}
	return v
}

// Valid gives raw where it is JSON, else the text as a JSON string, so that a
// record always is JSON.
func Valid(raw json.RawMessage) json.RawMessage {
	if json.Valid(raw) {
		return raw
	}
	b, _ := json.Marshal(string(raw))
	return b
}
