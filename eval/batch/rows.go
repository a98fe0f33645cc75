package batch

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/eval/trial"
)

// OpenRows returns the current rows of the evaluation in dir: the last one of each trial,
// in the order in which trials ended. The evaluation may be in progress.
func OpenRows(dir string) (trial.Rows, error) { return ReadRows(filepath.Join(dir, rowsFile)) }

// ReadRows is OpenRows for the file itself.
func ReadRows(path string) (trial.Rows, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			count, err := indexLines(path)
			if err != nil {
				yield(nil, withRecovery(filepath.Dir(path), err))
				return
			}
			for line, err := range journal.ReadLog(path) {
				if err == nil && line.N > count.lines {
					return // added since
				}
				if err == nil && count.older[line.N] {
					continue
				}
				row := &trial.Row{}
				if err == nil {
					err = decode(path, line, row)
				}
				if err != nil {
					yield(nil, err)
					return
				}
				if !yield(row, nil) {
					return
				}
			}
		}
	}, nil
}

// lineIndex has the number of rows and the superseded ones.
type lineIndex struct {
	lines int
	older map[int]bool
}

func indexLines(path string) (c lineIndex, err error) {
	c.older = map[int]bool{}
	seed, last := maphash.MakeSeed(), map[uint64]int{}
	for line, err := range journal.ReadLog(path) {
		if err != nil {
			return c, err
		}
		h, err := keyHash(seed, line.JSON)
		if err != nil {
			return c, fmt.Errorf("%s: line %d: %w", path, line.N, err)
		}
		if n, twice := last[h]; twice {
			c.older[n] = true
		}
		last[h], c.lines = line.N, line.N
	}
	return c, nil
}

// keyHash returns the hash of a row's key without decoding the whole row: the key comes
// first.
func keyHash(seed maphash.Seed, line []byte) (uint64, error) {
	var k trial.Key
	if n := headEnd(line); n > 0 {
		head := append(append(make([]byte, 0, n+1), line[:n]...), '}')
		if json.Unmarshal(head, &k) == nil && k.Repeat > 0 {
			return maphash.Comparable(seed, k), nil
		}
	}
	err := json.Unmarshal(line, &k)
	return maphash.Comparable(seed, k), err
}

// headEnd returns where the key's fields end: rows start with v, case, variant and
// repeat.
func headEnd(line []byte) int {
	text, fields := false, 0
	for i := 1; i < len(line); i++ {
		switch c := line[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			return 0
		case c == ',':
			if fields++; fields >= 3 && endsWithRepeat(line[:i]) {
				return i
			}
			if fields > 4 {
				return 0
			}
		}
	}
	return 0
}

// endsWithRepeat reports whether b ends with the number of the repeat.
func endsWithRepeat(b []byte) bool {
	n := len(b)
	for n > 0 && '0' <= b[n-1] && b[n-1] <= '9' {
		n--
	}
	const name = `"repeat":`
	return n < len(b) && n >= len(name) && string(b[n-len(name):n]) == name
}

func decode(path string, line journal.Line, row *trial.Row) error {
	if err := json.Unmarshal(line.JSON, row); err != nil {
		return fmt.Errorf("%s: line %d: %w", path, line.N, err)
	}
	if row.V > trial.RowVersion {
		return fmt.Errorf("%s: line %d: version %d of rows, this program reads up to %d; use a later pexctl", path, line.N, row.V, trial.RowVersion)
	}
	row.Run.StopReason.Status = row.Run.Status
	return nil
}

// rowAt reads the row at an offset.
func (s *store) rowAt(at int64) (*trial.Row, error) {
	path := filepath.Join(s.dir, rowsFile)
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.NewSectionReader(f, at, 1<<62)).ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%s: byte %d: %w", path, at, err)
	}
	row := &trial.Row{}
	return row, decode(path, journal.Line{At: at, JSON: line}, row)
}

// subjectOf returns the subject of checks from a row.
func subjectOf(row *trial.Row) *trial.Subject {
	run := &row.Run
	res := &engine.Result{
		RunID: run.ID, Status: run.Status, StopReason: run.StopReason, Response: run.Response, Output: run.Output,
		Plan: run.Plan, Steps: run.Steps, Warnings: run.Warnings, DurationMS: int64(run.LatencyMS), StartedAt: row.At,
		Usage:   engine.Usage{ModelCalls: run.ModelCalls, ToolCalls: run.ToolCalls, Tokens: model.Tokens{Input: run.Tokens}, CostUSD: run.Cost},
		Summary: engine.Summary{Steps: len(run.Steps), Replans: run.Replans},
	}
	s := subject(row.Input, row.Parameters, res, run.Prompts, run.LatencyMS)
	s.Unpriced = run.Unpriced
	return s
}
