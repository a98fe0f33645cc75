package jsonvalue

import (
	"encoding/json"
)

// Encode is Marshal for values that always encode: strings, numbers, and JSON that
// was checked. Any other is null.
func Encode(v any) []byte {
	b, err := Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return b
}

// Decode returns the value of JSON that was checked; numbers are json.Number, with
// the digits they were written with.
func Decode(b []byte) (v any) {
	_ = Unmarshal(b, &v)
	return v
}

// Plain returns the value of JSON that was checked, as expressions use it: numbers
// are int where they are whole, else float64.
func Plain(b []byte) any { return Normalize(Decode(b)) }

// Normalize is Plain for a value that Decode returned; it changes v in place.
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

// Valid returns raw if it is JSON, else its text as a JSON string.
func Valid(raw json.RawMessage) json.RawMessage {
	if json.Valid(raw) {
		return raw
	}
	b, _ := json.Marshal(string(raw))
	return b
}
