package journal

import (
	"fmt"
	"slices"
	"strconv"
)

// A line of version 2 has a body that refers to texts which the runs of a pool share
// (ADR 0035). The body is a JSON object. A number in place of the value of a member, or
// of a member of its member "new", is the number of the text that is the value.

// slot is the range of such a value in a body.
type slot struct{ from, to int }

// isNumber reports whether the slot of a body contains a number.
func (s slot) isNumber(body []byte) bool {
	c := body[s.from]
	return '0' <= c && c <= '9' || c == '-'
}

// appendSlots appends the slots of a body. ok is false if it is not a JSON object without
// white space.
func appendSlots(all []slot, body []byte) (_ []slot, ok bool) {
	all, end := appendMembers(all, body, 0, "new")
	return all, end == len(body)
}

// appendMembers appends the slots of the object that starts at from, and returns its end,
// or 0 if it has none. The members of the member named inner are slots instead of the
// member itself.
func appendMembers(all []slot, body []byte, from int, inner string) (_ []slot, end int) {
	if from+1 < len(body) && body[from] == '{' && body[from+1] == '}' {
		return all, from + 2
	}
	for at, sep := from, byte('{'); at < len(body); {
		switch {
		case body[at] == '}' && sep == ',':
			return all, at + 1
		case body[at] != sep:
			return all, 0
		}
		key := at + 1
		if at = stringEnd(body, key); at == 0 || at >= len(body) || body[at] != ':' {
			return all, 0
		}
		at++
		if from := at; inner != "" && string(body[key+1:at-2]) == inner && from < len(body) && body[from] == '{' {
			if all, at = appendMembers(all, body, from, ""); at == 0 {
				return all, 0
			}
		} else {
			if at = valueEnd(body, from); at == 0 {
				return all, 0
			}
			all = append(all, slot{from, at})
		}
		sep = ','
	}
	return all, 0
}

// valueEnd returns the end of the JSON value that starts at from, or 0 if it has none.
func valueEnd(body []byte, from int) int {
	depth := 0
	for at := from; at < len(body); at++ {
		switch c := body[at]; {
		case c == '"':
			end := stringEnd(body, at)
			if end == 0 || depth == 0 && at == from {
				return end
			}
			at = end - 1
		case c == '{' || c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			if depth--; depth == 0 {
				return at + 1
			}
		case depth == 0 && (c == ',' || c == '}'):
			if at == from {
				return 0
			}
			return at
		}
	}
	return 0
}

// stringEnd returns the end of the string that starts at from, or 0 if it has none.
func stringEnd(body []byte, from int) int {
	if from >= len(body) || body[from] != '"' {
		return 0
	}
	if n := closingQuote(body[from+1:]); n >= 0 {
		return from + n + 2
	}
	return 0
}

// minShared is the minimum length of a shared text as JSON.
const minShared = 48

// compact appends to b the body with references in place of long values to which number
// assigns a number other than 0; ok is false if there are none. A body with numbers in
// such places does not get any: they would be mistaken for references.
func compact(b, body []byte, number func(text []byte) (int, error)) (_ []byte, ok bool, err error) {
	var room [32]slot
	slots, isObject := appendSlots(room[:0], body)
	if !isObject || slices.ContainsFunc(slots, func(s slot) bool { return s.isNumber(body) }) {
		return b, false, nil
	}
	copied := 0
	for _, s := range slots {
		if s.to-s.from < minShared {
			continue
		}
		n, err := number(body[s.from:s.to])
		if err != nil {
			return b, false, err
		}
		if n > 0 {
			b = strconv.AppendInt(append(b, body[copied:s.from]...), int64(n), 10)
			copied = s.to
		}
	}
	return append(b, body[copied:]...), copied > 0, nil
}

// expand returns a body with the texts that it refers to.
func expand(body []byte, text func(n int) ([]byte, error)) ([]byte, error) {
	out, copied := make([]byte, 0, 2*len(body)), 0
	err := eachReference(body, func(n int, s slot) error {
		t, err := text(n)
		out = append(append(out, body[copied:s.from]...), t...)
		copied = s.to
		return err
	})
	return append(out, body[copied:]...), err
}

// eachReference calls f with the references of a body, with 0 for one that is invalid.
func eachReference(body []byte, f func(n int, s slot) error) error {
	var room [32]slot
	slots, ok := appendSlots(room[:0], body)
	if !ok {
		return fmt.Errorf("%w: the body is not a JSON object", ErrCorrupt)
	}
	for _, s := range slots {
		if !s.isNumber(body) {
			continue
		}
		n, err := strconv.Atoi(string(body[s.from:s.to]))
		if err != nil {
			n = 0 // the number of no text
		}
		if err := f(n, s); err != nil {
			return err
		}
	}
	return nil
}
