package secret

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// JSON returns valid JSON with each value redacted, in strings and keys; a number that
// contains one becomes a string. Everything else is unchanged, byte for byte. Invalid
// JSON is treated as text.
func (v *Values) JSON(body []byte) (clean []byte, found bool) {
	if v == nil || len(v.needles.all)+len(v.folders) == 0 || v.cannotContain(body) {
		return body, false
	}
	if !json.Valid(body) {
		text, found := v.Text(string(body))
		return []byte(text), found
	}
	out, done := []byte(nil), 0
	tokens(body, func(from, to int, s string, _ bool) {
		hits := v.hits(s)
		switch {
		case len(hits) == 0:
			return
		case body[from] == '"':
			places := offsets(body[from:to])
			for _, h := range hits {
				out = append(out, body[done:from+places[h.from]]...)
				out = append(out, quote(h.mark, false)...)
				done = from + places[h.to]
			}
		default:
			out = append(out, body[done:from]...)
			out = append(append(append(out, '"'), quote(replace(s, 0, hits), false)...), '"')
			done = to
		}
		found = true
	})
	if !found {
		return body, false
	}
	return append(out, body[done:]...), true
}

// cannotContain reports cheaply that a text contains no value, whether it is JSON or not:
// no value in its usual encoding, and no unusual escapes.
func (v *Values) cannotContain(body []byte) bool {
	if hasUnusualEscape(body) {
		return false
	}
	found, apart := scan(v, body)
	if len(v.folders) > 0 || apart {
		return len(v.hits(string(body))) == 0
	}
	return len(found) == 0
}

// hasUnusualEscape reports whether JSON may have an escape for a character that needs
// none.
func hasUnusualEscape(body []byte) bool {
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 || i+1 == len(body) {
			return false
		}
		if body = body[i+1:]; body[0] == 'u' || body[0] == '/' {
			return true
		}
	}
}

// InJSON applies InRecord to all strings of valid JSON, with the key before each. Invalid
// JSON is treated as text.
func InJSON(body []byte) (seen Sighting) {
	if !json.Valid(body) {
		return InRecord(string(body), "")
	}
	under, depth, end := "", 0, 0
	names := -1 // depth of the object whose values list names; -1 = none
	tokens(body, func(from, to int, s string, name bool) {
		depth += bytes.Count(body[end:from], []byte("{")) - bytes.Count(body[end:from], []byte("}"))
		end = to
		if depth < names {
			names = -1
		}
		switch {
		case seen.Kind != "":
		case name && names < 0 && ListsNames(s) && opensObject(body[to:]):
			under, names = "", depth+1
		case name:
			under, seen = s, FindWellKnown(s)
			if depth == names {
				under = ""
			}
		default:
			seen = InRecord(s, under)
		}
	})
	return seen
}

// ListsNames reports whether a key is a JSON Schema keyword that maps property names to
// lists of property names.
func ListsNames(key string) bool { return key == "dependentRequired" || key == "dependencies" }

// opensObject reports whether an object follows a key.
func opensObject(b []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n:"), []byte("{"))
}

// tokens yields the strings and numbers of valid JSON, decoded, with their offsets; name
// reports a key.
func tokens(body []byte, yield func(from, to int, s string, name bool)) {
	for i := 0; i < len(body); {
		switch c := body[i]; {
		case c == '"':
			end := i + 1 + closingQuote(body[i+1:]) + 1
			rest := bytes.TrimLeft(body[end:], " \t\r\n")
			yield(i, end, unquote(body[i:end]), len(rest) > 0 && rest[0] == ':')
			i = end
		case c == '-' || '0' <= c && c <= '9':
			end := i + 1
			for end < len(body) && bytes.IndexByte([]byte("0123456789+-.eE"), body[end]) >= 0 {
				end++
			}
			yield(i, end, string(body[i:end]), false)
			i = end
		default:
			i++
		}
	}
}

// closingQuote returns the index of the quote that ends a string.
func closingQuote(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b) - 1 // impossible in valid JSON
}

func unquote(b []byte) string {
	var s string
	if bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return string(b[1 : len(b)-1])
	}
	_ = json.Unmarshal(b, &s) // valid JSON at this point
	return s
}

// offsets returns the offset in a string's literal of each decoded byte, and of the end,
// so that the surroundings of a value stay unchanged.
func offsets(literal []byte) []int {
	end := len(literal) - 1
	out := make([]int, 0, end)
	for i := 1; i < end; {
		n, said := 1, 1 // bytes as written, and as decoded
		switch {
		case literal[i] == '\\' && literal[i+1] != 'u':
			n = 2
		case literal[i] == '\\':
			n = 6
			if pair := unquote(quoted(literal[i:min(i+12, end)])); pair != "" && i+12 <= end && utf8.RuneCountInString(pair) == 1 {
				n = 12
			}
			said = len(unquote(quoted(literal[i : i+n])))
		case literal[i] >= utf8.RuneSelf:
			_, n = utf8.DecodeRune(literal[i:end])
			said = len(unquote(quoted(literal[i : i+n])))
		}
		for range said {
			out = append(out, i)
		}
		i += n
	}
	return append(out, end)
}

func quoted(b []byte) []byte { return append(append([]byte{'"'}, b...), '"') }
