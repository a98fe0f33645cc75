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
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return readUnambiguous(d, "")
}

// readUnambiguous checks one value; at is its name in errors, "" = the arguments.
func readUnambiguous(d *json.Decoder, at string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Number:
		return representable(at, token)
	case json.Delim:
		names := map[string]bool{}
		for i := 0; d.More(); i++ {
			inner := fmt.Sprintf("%s[%d]", at, i)
			if token == '{' {
				name, err := d.Token()
				if err != nil {
					return err
				}
				if inner = strings.TrimPrefix(fmt.Sprintf("%s.%v", at, name), "."); names[inner] {
					return fmt.Errorf("duplicate argument %s", Excerpt(inner, 200))
				}
				names[inner] = true
			}
			if err := readUnambiguous(d, inner); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

// representable rejects numbers that become infinite, or 0, as float64.
func representable(at string, n json.Number) error {
	f, err := strconv.ParseFloat(n.String(), 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(n.String()), "e")
	if err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789") || len(n) > maxNumber {
		return fmt.Errorf("the argument %s has the number %s, which is out of range or too long; use at most %d characters, and magnitudes from 1e-307 to 1e308",
			Excerpt(at, 200), Excerpt(n.String(), 40), maxNumber)
	}
	return nil
}
