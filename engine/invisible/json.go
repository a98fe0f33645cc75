package invisible

import (
	"bytes"
	"encoding/json"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// ShowJSON applies Show to every string of a JSON value, including keys, and counts the
// characters. Invalid JSON is returned unchanged.
func ShowJSON(b []byte) ([]byte, int) {
	if !json.Valid(b) {
		return b, 0
	}
	var out bytes.Buffer
	n, done := 0, 0
	for i := 0; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		end := textEnd(b, i)
		if shown, found := showText(b[i:end]); found > 0 {
			out.Write(b[done:i])
			out.Write(shown)
			done = end
			n += found
		}
		i = end - 1
	}
	if n == 0 {
		return b, 0
	}
	out.Write(b[done:])
	return out.Bytes(), n
}

// textEnd returns the offset after the string that starts at a quote of valid JSON.
func textEnd(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

func showText(quoted []byte) ([]byte, int) {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return quoted, 0 // impossible in valid JSON
	}
	shown, n := Show(s)
	if n == 0 {
		return quoted, 0
	}
	return []byte(jsonvalue.Quote(shown)), n
}
