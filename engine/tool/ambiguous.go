package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// maxNumber bounds the characters of a number in the arguments of a call.
const maxNumber = 100

// Unambiguous refuses arguments that another reader could take for others than
// the conditions around the call saw: an object with two members of one name, or
// a number that no float64 is near to. raw is valid JSON.
func Unambiguous(raw json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return readUnambiguous(d, "")
}

// readUnambiguous reads one value; at is its name for people, "" = the arguments.
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
					return fmt.Errorf("the argument %s is given twice; give it once", Excerpt(inner, 200))
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

// representable refuses numbers that are infinite, or 0 though they are not, for
// a reader with float64 alone.
func representable(at string, n json.Number) error {
	f, err := strconv.ParseFloat(n.String(), 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(n.String()), "e")
	if err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789") || len(n) > maxNumber {
		return fmt.Errorf("the argument %s is the number %s, which is too large, too small or too long; write at most %d characters, and magnitudes from 1e-307 to 1e308",
			Excerpt(at, 200), Excerpt(n.String(), 40), maxNumber)
	}
	return nil
}
