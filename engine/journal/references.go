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
	slots, ok := appendSlots(nil, body)
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
