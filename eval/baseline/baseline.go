package baseline

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/pexctl/pex/engine/exprenv"
)

// Version is that of the file: fields are only ever added.
const Version = 1

// File is a baseline.
type File struct {
	V       int           `json:"v"`
	Suite   string        `json:"suite"`
	Digest  string        `json:"digest"`
	Grading string        `json:"grading_digest"` // marks of another grading do not compare
	Dataset string        `json:"dataset_digest"`
	Commit  string        `json:"git_commit,omitempty"`
	At      time.Time     `json:"at,omitzero"` // when the evaluation began
	Stats   exprenv.Stats `json:"stats"`
	Cases   []Case        `json:"cases"`
}

// Case is what one case came to under one variant.
type Case struct {
	Case      string  `json:"case"`
	Variant   string  `json:"variant,omitempty"`
	C         int     `json:"c"` // passed trials
	N         int     `json:"n"` // graded trials
	Score     float64 `json:"score"`
	Cost      float64 `json:"cost"` // mean of a trial, USD
	Tokens    float64 `json:"tokens"`
	LatencyMS float64 `json:"latency_ms"`
}

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
		return nil, fmt.Errorf("invalid baseline: %w%s; to recreate it: pexctl eval bless", err, conflict(data))
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
			return fmt.Errorf("duplicate case %q in the baseline; to recreate it: pexctl eval bless", c.Case)
		}
		seen[k] = struct{}{}
		if c.C < 0 || c.N < 1 || c.C > c.N {
			return fmt.Errorf("the baseline says that case %q passed %d of %d trials; to recreate it: pexctl eval bless", c.Case, c.C, c.N)
		}
	}
	return nil
}

// Write writes a baseline: what is of the whole in indented JSON, then a line
// for each case. The same baseline gives the same bytes. Figures of cases are
// written with as many digits as a reader would look at.
func Write(w io.Writer, f *File) error {
	head := *f
	head.V, head.Cases = Version, nil
	data, err := json.MarshalIndent(struct {
		File
		Cases *struct{} `json:"cases,omitempty"` // hides those of File
	}{File: head}, "", "  ")
	if err != nil {
		return fmt.Errorf("baseline: %w", err)
	}
	out := bufio.NewWriter(w) // which keeps the first error for Flush
	fmt.Fprintf(out, "%s,\n  \"cases\": [", data[:len(data)-len("\n}")])
	for i := range f.Cases {
		line, err := json.Marshal(rounded(f.Cases[i]))
		if err != nil {
			return fmt.Errorf("baseline: case %q: %w", f.Cases[i].Case, err)
		}
		sep := ",\n    "
		if i == 0 {
			sep = "\n    "
		}
		fmt.Fprintf(out, "%s%s", sep, line)
	}
	if len(f.Cases) > 0 {
		fmt.Fprint(out, "\n  ")
	}
	fmt.Fprint(out, "]\n}\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write baseline: %w", err)
	}
	return nil
}

func rounded(c Case) Case {
	c.Score, c.Cost = digits(c.Score, 6), digits(c.Cost, 4)
	c.Tokens, c.LatencyMS = digits(c.Tokens, 4), digits(c.LatencyMS, 3)
	return c
}

// digits is a figure with so many significant digits.
func digits(x float64, n int) float64 {
	d, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	if err != nil {
		return x
	}
	return d
}
