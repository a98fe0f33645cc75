package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ErrNewer reports that a later version of pexctl wrote the journal.
var ErrNewer = errors.New("journal is newer than this program")

var errForm = errors.New("not a journal line")

// parse parses a line without its newline, of a format up to newest. It skips unknown
// fields and rejects unknown values. The chain was checked before, so parse must be safe for any input but need not
// validate strictly; encoding/json takes five times as long. The body aliases the line.
func parse(line []byte, newest uint64) (r Record, err error) {
	if err = eachField(line, newest, r.field); err != nil {
		return r, err
	}
	switch {
	case r.Kind == 0:
		return r, errForm
	case r.Kind == Intent && r.Attempt == 0:
		r.Attempt = 1
	}
	return r, nil
}

// eachField calls f with each field of a line, except its version and chain.
func eachField(line []byte, newest uint64, f func(key, value []byte) error) error {
	if len(line) < chainMarkLen {
		return errForm
	}
	rest, sep := line[:len(line)-chainMarkLen], byte('{')
	for len(rest) > 0 {
		k := bytes.Index(rest, []byte(`":`))
		if k < 2 || rest[0] != sep || rest[1] != '"' {
			return errForm
		}
		key := rest[2:k]
		value, after, ok := splitValue(rest[k+2:])
		if !ok {
			return errForm
		}
		err := error(nil)
		if string(key) == "v" {
			err = checkVersion(value, newest)
		} else {
			err = f(key, value)
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", key, err)
		}
		rest, sep = after, ','
	}
	return nil
}

func checkVersion(v []byte, newest uint64) error {
	n, err := strconv.ParseUint(string(v), 10, 64)
	if err == nil && n > newest {
		err = fmt.Errorf("%w: format %d, this program reads up to %d; use a later pexctl", ErrNewer, n, newest)
	}
	return err
}

// splitValue splits b after its first JSON value.
func splitValue(b []byte) (value, rest []byte, ok bool) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := closingQuote(b[i+1:])
			if end < 0 {
				return nil, nil, false
			}
			i += 1 + end
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return nil, nil, false
			}
		case ',':
			if depth == 0 {
				return b[:i:i], b[i:], i > 0
			}
		}
	}
	return slices.Clip(b), nil, depth == 0 && len(b) > 0
}

// closingQuote returns the index of the quote that ends a string, or -1.
func closingQuote(b []byte) int {
	for i := 0; i < len(b); i++ {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return -1
		}
		e := bytes.IndexByte(b[i:i+q], '\\')
		if e < 0 {
			return i + q
		}
		i += e + 1 // the loop skips the escaped byte
	}
	return -1
}

func (r *Record) field(key, v []byte) (err error) {
	var n uint64
	switch string(key) {
	case "seq":
		r.Seq, err = strconv.ParseUint(string(v), 10, 64)
	case "attempt":
		n, err = strconv.ParseUint(string(v), 10, 16)
		r.Attempt = uint16(n)
	case "voids":
		r.Voids, err = strconv.ParseUint(string(v), 10, 64)
	case "at":
		r.At, err = strconv.ParseInt(string(v), 10, 64)
	case "kind":
		r.Kind, err = parseName[Kind](kinds, v)
	case "class":
		r.Class, err = parseName[Class](classes, v)
	case "status":
		r.Status, err = parseName[Status](statuses, v)
	case "held":
		r.Deferred = string(v) == "true"
	case "wall":
		var t time.Time
		err = t.UnmarshalJSON(v)
		r.WallTime = t.UnixNano()
	case "by":
		r.By = v
	case "path":
		r.Path, err = unquote(v)
	case "digest":
		err = digest(&r.Digest, v)
	case "input", "request", "result", "change":
		r.Body = v
	case "text":
		var s string
		s, err = unquote(v)
		r.Body = []byte(s)
	}
	return err
}

func parseName[T ~uint8](names []string, v []byte) (T, error) {
	for i, n := range names {
		if n != "" && len(v) == len(n)+2 && string(v[1:len(v)-1]) == n {
			return T(i), nil
		}
	}
	return 0, fmt.Errorf("%w: %s is unknown; use a later pexctl", ErrNewer, v)
}

func unquote(v []byte) (s string, err error) {
	if len(v) >= 2 && v[0] == '"' && bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1]), nil
	}
	err = json.Unmarshal(v, &s)
	return s, err
}

// digest decodes a digest. Earlier versions wrote the whole SHA-256 in hex.
func digest(d *Digest, v []byte) (err error) {
	if len(v) < 2 {
		return errForm
	}
	v = v[1 : len(v)-1]
	var sum [sha256.Size]byte
	switch len(v) {
	case base64.RawURLEncoding.EncodedLen(len(d)):
		_, err = base64.RawURLEncoding.Decode(sum[:], v)
	case hex.EncodedLen(len(sum)):
		_, err = hex.Decode(sum[:], v)
	default:
		err = errForm
	}
	*d = Digest(sum[:])
	return err
}
