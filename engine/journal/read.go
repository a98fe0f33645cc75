package journal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ErrNewer says that a later version wrote the journal.
var ErrNewer = errors.New("journal is newer than this program")

var errForm = errors.New("not a journal line")

// parse reads a line without its newline. Fields it does not know are skipped,
// values it does not know are errors. It trusts that the chain was checked, so
// it has to be safe on any bytes but strict on none: encoding/json takes five
// times as long. A body is a piece of line, not a copy.
func parse(line []byte) (r Record, err error) {
	if len(line) < markLen {
		return r, errForm
	}
	rest, sep := line[:len(line)-markLen], byte('{')
	for len(rest) > 0 {
		k := bytes.Index(rest, []byte(`":`))
		if k < 2 || rest[0] != sep || rest[1] != '"' {
			return r, errForm
		}
		key := rest[2:k]
		value, after, ok := split(rest[k+2:])
		if !ok {
			return r, errForm
		}
		if err := r.field(key, value); err != nil {
			return r, err
		}
		rest, sep = after, ','
	}
	if r.Kind == 0 {
		return r, errForm
	}
	return r, nil
}

// split cuts b behind its first JSON value.
func split(b []byte) (value, rest []byte, ok bool) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := closing(b[i+1:])
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

// closing is the place of the quote that ends a string.
func closing(b []byte) int {
	for i := 0; i < len(b); i++ {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return -1
		}
		e := bytes.IndexByte(b[i:i+q], '\\')
		if e < 0 {
			return i + q
		}
		i += e + 1 // the loop steps over the escaped byte
	}
	return -1
}

func (r *Record) field(key, v []byte) (err error) {
	var n uint64
	switch string(key) {
	case "v":
		if n, err = strconv.ParseUint(string(v), 10, 64); err == nil && n > version {
			err = fmt.Errorf("%w: format %d, this program reads up to %d; use a later pexctl", ErrNewer, n, version)
		}
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
		r.Kind, err = named[Kind](kinds, v)
	case "class":
		r.Class, err = named[Class](classes, v)
	case "status":
		r.Status, err = named[Status](statuses, v)
	case "held":
		r.Held = string(v) == "true"
	case "wall":
		var t time.Time
		err = t.UnmarshalJSON(v)
		r.Wall = t.UnixNano()
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
	if err != nil {
		return fmt.Errorf("field %s: %w", key, err)
	}
	return nil
}

func named[T ~uint8](names []string, v []byte) (T, error) {
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

func digest(d *[32]byte, v []byte) error {
	if len(v) != 2+2*len(d) {
		return errForm
	}
	_, err := hex.Decode(d[:], v[1:len(v)-1])
	return err
}
