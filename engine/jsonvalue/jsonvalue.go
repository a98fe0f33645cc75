package jsonvalue

import (
	"encoding/json"
)

// Encode is Marshal for values that always encode: strings, numbers and valid JSON.
// Others become null.
func Encode(v any) []byte {
	b, err := Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return b
}

// Decode decodes valid JSON; numbers are json.Number with their digits.
func Decode(b []byte) (v any) {
	_ = Unmarshal(b, &v)
	return v
}

// Plain decodes valid JSON for expressions: numbers are int if whole, else float64.
func Plain(b []byte) any { return Normalize(Decode(b)) }

// Normalize converts the result of Decode to that of Plain, in place.
func Normalize(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return int(i)
		}
		f, _ := v.Float64() // validated by the decoder
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

// Valid returns raw if it is valid JSON, else its text as a JSON string.
func Valid(raw json.RawMessage) json.RawMessage {
	if json.Valid(raw) {
		return raw
	}
	b, _ := json.Marshal(string(raw))
	return b
}
