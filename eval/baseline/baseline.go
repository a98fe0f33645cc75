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

// Version is the version of the file format. Fields are only ever added.
const Version = 1

// File is a baseline.
type File struct {
	V       int           `json:"v"`
	Suite   string        `json:"suite"`
	Digest  string        `json:"digest"`
	Grading string        `json:"grading_digest"` // marks of different grading are not comparable
	Dataset string        `json:"dataset_digest"`
	Commit  string        `json:"git_commit,omitempty"`
	At      time.Time     `json:"at,omitzero"` // start of the evaluation
	Stats   exprenv.Stats `json:"stats"`
	Cases   []Case        `json:"cases"`
}

// Case has the results of one case under one variant.
type Case struct {
	Case      string  `json:"case"`
	Variant   string  `json:"variant,omitempty"`
	C         int     `json:"c"` // passed trials
	N         int     `json:"n"` // graded trials
	Score     float64 `json:"score"`
	Cost      float64 `json:"cost"` // mean per trial, USD
	Tokens    float64 `json:"tokens"`
	LatencyMS float64 `json:"latency_ms"`
}

// MaxSize is the maximum size of a baseline in bytes.
const MaxSize = 64 << 20

// Read reads a baseline. It ignores fields added by later versions.
func Read(r io.Reader) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	if len(data) > MaxSize {
		return nil, fmt.Errorf("the file is larger than %d MiB, so it is not a baseline; to create one: pexctl eval bless", MaxSize>>20)
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

// conflict returns a note if the file has git conflict markers.
func conflict(data []byte) string {
	if bytes.Contains(data, []byte("\n<<<<<<< ")) || bytes.HasPrefix(data, []byte("<<<<<<< ")) {
		return " (it has git conflict markers)"
	}
	return ""
}

func (f *File) check() error {
	switch {
	case f.V == 0 && f.Cases == nil:
		return errors.New("not a baseline: it has no version and no cases; to create one: pexctl eval bless")
	case f.V > Version:
		return fmt.Errorf("the baseline has version %d, but this pexctl supports up to %d: use a later pexctl", f.V, Version)
	}
	type key struct{ id, variant string }
	cases := make(map[key]struct{}, len(f.Cases))
	for _, c := range f.Cases {
		k := key{c.Case, c.Variant}
		if _, twice := cases[k]; twice {
			return fmt.Errorf("duplicate case %q in the baseline; to recreate it: pexctl eval bless", c.Case)
		}
		cases[k] = struct{}{}
		if c.C < 0 || c.N < 1 || c.C > c.N {
			return fmt.Errorf("invalid baseline: case %q passed %d of %d trials; to recreate it: pexctl eval bless", c.Case, c.C, c.N)
		}
	}
	return nil
}

// Write writes a baseline: the overall fields as indented JSON, then one line per case. The output is
// deterministic. Values of cases are rounded to a few significant digits.
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
	out := bufio.NewWriter(w) // keeps the first error for Flush
	fmt.Fprintf(out, "%s,\n  \"cases\": [", data[:len(data)-len("\n}")])
	for i := range f.Cases {
		line, err := json.Marshal(roundCase(f.Cases[i]))
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

func roundCase(c Case) Case {
	c.Score, c.Cost = round(c.Score, 6), round(c.Cost, 4)
	c.Tokens, c.LatencyMS = round(c.Tokens, 4), round(c.LatencyMS, 3)
	return c
}

// round rounds to n significant digits.
func round(x float64, n int) float64 {
	d, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', n, 64), 64)
	if err != nil {
		return x
	}
	return d
}
