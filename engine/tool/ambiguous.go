package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxNumber is the maximum length of a number in arguments.
const maxNumber = 100

// Unambiguous rejects arguments that other parsers may read differently than the
// conditions around the call: objects with duplicate keys, and numbers that float64
// cannot represent closely. raw must be valid JSON.
func Unambiguous(raw json.RawMessage) error {
	s := argScanner{b: raw}
	return s.value(nil)
}

// argScanner scans valid JSON without decoding it: most calls have nothing to report.
type argScanner struct {
	b  []byte
	at int
}

// place is where a value is, for errors; nil = the arguments themselves.
type place struct {
	in    *place
	key   []byte // quoted; nil = an item
	index int
}

func (p *place) String() string {
	if p == nil {
		return ""
	}
	if p.key == nil {
		return fmt.Sprintf("%s[%d]", p.in, p.index)
	}
	return strings.TrimPrefix(p.in.String()+"."+keyText(p.key), ".")
}

// keyText decodes a quoted key.
func keyText(quoted []byte) (s string) {
	_ = json.Unmarshal(quoted, &s) // it is valid
	return s
}

// next skips white space and separators and returns the first byte of the next token.
func (s *argScanner) next() byte {
	for s.at < len(s.b) && bytes.IndexByte([]byte(" \t\r\n,:"), s.b[s.at]) >= 0 {
		s.at++
	}
	if s.at == len(s.b) {
		return 0
	}
	return s.b[s.at]
}

// value scans one value.
func (s *argScanner) value(at *place) error {
	switch c := s.next(); c {
	case '{':
		return s.object(at)
	case '[':
		s.at++
		for i := 0; s.next() != ']' && s.at < len(s.b); i++ {
			if err := s.value(&place{in: at, index: i}); err != nil {
				return err
			}
		}
		s.at++
		return nil
	case '"':
		s.text()
		return nil
	default:
		return s.literal(at, c)
	}
}

// object scans an object. Up to 8 keys are compared with each other, more by a map.
func (s *argScanner) object(at *place) error {
	var few [8][]byte
	var many map[string]bool
	inner := place{in: at}
	s.at++
	for n := 0; s.next() == '"'; n++ {
		inner.key = s.text()
		if many == nil && n < len(few) && bytes.IndexByte(inner.key, '\\') < 0 {
			for _, k := range few[:n] {
				if bytes.Equal(k, inner.key) {
					return duplicate(&inner)
				}
			}
			few[n] = inner.key
		} else {
			if many == nil {
				many = map[string]bool{}
				for _, k := range few[:n] {
					many[keyText(k)] = true
				}
			}
			k := keyText(inner.key)
			if many[k] {
				return duplicate(&inner)
			}
			many[k] = true
		}
		if err := s.value(&inner); err != nil {
			return err
		}
	}
	s.at++
	return nil
}

func duplicate(p *place) error {
	return fmt.Errorf("duplicate argument %s", Excerpt(p.String(), 200))
}

// text scans a string and returns it with its quotes.
func (s *argScanner) text() []byte {
	from := s.at
	for s.at++; s.at < len(s.b) && s.b[s.at] != '"'; s.at++ {
		if s.b[s.at] == '\\' {
			s.at++
		}
	}
	s.at = min(s.at+1, len(s.b))
	return s.b[from:s.at]
}

// literal scans a number, true, false or null, which starts with c.
func (s *argScanner) literal(at *place, c byte) error {
	from := s.at
	for s.at < len(s.b) && bytes.IndexByte([]byte(" \t\r\n,:]}"), s.b[s.at]) < 0 {
		s.at++
	}
	if c == '-' || '0' <= c && c <= '9' {
		return representable(at, s.b[from:s.at])
	}
	return nil
}

// representable rejects numbers that become infinite, or 0, as float64.
func representable(at *place, n []byte) error {
	if len(n) < 16 && !bytes.ContainsAny(n, "eE") {
		return nil
	}
	f, err := strconv.ParseFloat(string(n), 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(string(n)), "e")
	if err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789") || len(n) > maxNumber {
		return fmt.Errorf("the argument %s has the number %s, which is out of range or too long; use at most %d characters, and magnitudes from 1e-307 to 1e308",
			Excerpt(at.String(), 200), Excerpt(string(n), 40), maxNumber)
	}
	return nil
}
