package journal

import (
	"fmt"
	"strconv"
)

// A line of version 2 has a body that refers to texts which the runs of a pool share
// (ADR 0035). The body is a JSON object. A number in place of the value of a member, or
// of a member of its member "new", is the number of the text that is the value.

// slot is the range of such a value in a body.
type slot struct{ from, to int }

func (s slot) size() int { return s.to - s.from }

// reference returns the number that the slot of a body contains; ok is false if it
// contains another value.
func (s slot) reference(body []byte) (n int, ok bool) {
	if !s.isNumber(body) {
		return 0, false
	}
	n, err := strconv.Atoi(string(body[s.from:s.to]))
	return n, err == nil
}

func (s slot) isNumber(body []byte) bool {
	c := body[s.from]
	return '0' <= c && c <= '9' || c == '-'
}

// appendSlots appends the slots of a body. ok is false if it is not a JSON object.
func appendSlots(all []slot, body []byte) (_ []slot, ok bool) {
	return appendMembers(all, body, 0, "new")
}

// appendMembers appends the slots of an object at an offset of the body. The members of
// the member named inner are slots instead of the member itself.
func appendMembers(all []slot, object []byte, at int, inner string) (_ []slot, ok bool) {
	end := len(object) - 1
	if end < 1 || object[0] != '{' || object[end] != '}' {
		return all, false
	}
	for from := 1; from < end; from++ { // skips the comma
		k := closingQuote(object[from+1 : end])
		if object[from] != '"' || k < 0 || from+k+2 >= end || object[from+k+2] != ':' {
			return all, false
		}
		key := object[from+1 : from+1+k]
		from += k + 3
		value, _, ok := splitValue(object[from:end])
		if !ok || len(value) == 0 {
			return all, false
		}
		if inner != "" && string(key) == inner && value[0] == '{' {
			if all, ok = appendMembers(all, value, at+from, ""); !ok {
				return all, false
			}
		} else {
			all = append(all, slot{at + from, at + from + len(value)})
		}
		if from += len(value); from == end-1 {
			return all, false // a comma, and no member after it
		}
	}
	return all, true
}

// expand returns a body with the texts that it refers to.
func expand(body []byte, text func(n int) ([]byte, error)) ([]byte, error) {
	slots, ok := appendSlots(nil, body)
	if !ok {
		return nil, fmt.Errorf("%w: the body is not a JSON object", ErrCorrupt)
	}
	out, copied := make([]byte, 0, 2*len(body)), 0
	for _, s := range slots {
		if !s.isNumber(body) {
			continue
		}
		n, _ := s.reference(body) // 0 is the number of no text
		t, err := text(n)
		if err != nil {
			return nil, err
		}
		out = append(append(out, body[copied:s.from]...), t...)
		copied = s.to
	}
	return append(out, body[copied:]...), nil
}
