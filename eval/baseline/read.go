package baseline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxSize is how large a baseline may be, in bytes.
const MaxSize = 64 << 20

// Read reads what Write wrote. Fields that a later version added are skipped.
func Read(r io.Reader) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	if len(data) > MaxSize {
		return nil, fmt.Errorf("the baseline is larger than %d MiB: is it one? pexctl eval bless writes it", MaxSize>>20)
	}
	f := &File{}
	if err := json.Unmarshal(data, f); err != nil {
		return nil, fmt.Errorf("the baseline is no such file: %w%s; pexctl eval bless writes it anew", err, conflict(data))
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	return f, nil
}

// conflict tells of the marks that git leaves where two branches moved it.
func conflict(data []byte) string {
	if bytes.Contains(data, []byte("\n<<<<<<< ")) || bytes.HasPrefix(data, []byte("<<<<<<< ")) {
		return " (a merge left its marks in it)"
	}
	return ""
}

func (f *File) check() error {
	switch {
	case f.V == 0 && f.Cases == nil:
		return errors.New("this is no baseline: it has no version and no cases; pexctl eval bless writes one")
	case f.V > Version:
		return fmt.Errorf("the baseline is of version %d, this pexctl knows %d: use a later pexctl", f.V, Version)
	}
	type key struct{ id, variant string }
	seen := make(map[key]struct{}, len(f.Cases))
	for _, c := range f.Cases {
		k := key{c.Case, c.Variant}
		if _, twice := seen[k]; twice {
			return fmt.Errorf("the baseline has case %q twice; pexctl eval bless writes it anew", c.Case)
		}
		seen[k] = struct{}{}
		if c.C < 0 || c.N < 1 || c.C > c.N {
			return fmt.Errorf("the baseline says that case %q passed %d of %d trials; pexctl eval bless writes it anew", c.Case, c.C, c.N)
		}
	}
	return nil
}
