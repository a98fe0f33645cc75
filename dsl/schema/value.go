package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits of a validated value.
const (
	maxValueDepth = 1000
	maxUnique     = 2000 // elements of a list with uniqueItems
	maxDigits     = 1000 // characters of a number
	maxExponent   = 400
)

// Decode parses one JSON value, with numbers as json.Number.
func Decode(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("unexpected end of the JSON")
		}
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("invalid JSON: text after the value, at byte %d", d.InputOffset())
	}
	return v, nil
}

// scan rejects values on which the library would take too long or panic, and
// counts what they contain.
type scan struct {
	unique bool
	nodes  int
	depth  int // maximum depth
}

func (s *scan) value(v any, depth int) error {
	s.nodes++
	if s.depth = max(s.depth, depth); depth > maxValueDepth {
		return fmt.Errorf("the value is nested more than %d levels deep", maxValueDepth)
	}
	switch v := v.(type) {
	case nil, bool, string, int, int64, float64:
	case json.Number:
		return checkNumber(v)
	case []any:
		if s.unique && len(v) > maxUnique {
			return fmt.Errorf("a list has %d items; the maximum with uniqueItems is %d", len(v), maxUnique)
		}
		for _, e := range v {
			if err := s.value(e, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, e := range v {
			if err := s.value(e, depth+1); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("a value of type %T is not valid in JSON", v)
	}
	return nil
}

func checkNumber(n json.Number) error {
	text := n.String()
	_, exponent, has := strings.Cut(strings.ToLower(text), "e")
	if len(text) <= maxDigits && !has {
		return nil
	}
	if e, err := strconv.Atoi(exponent); len(text) > maxDigits || err != nil || e > maxExponent || e < -maxExponent {
		return fmt.Errorf("the number %.20s... is too large or too small", text)
	}
	return nil
}
