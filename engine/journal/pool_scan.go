package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pexctl/pex/engine/regular"
)

// poolScan scans a pool once. It verifies every line with the chain of its run, and that
// each run begins with its start record.
type poolScan struct {
	*lineReader
	pool      *Pool
	good      int64 // length of the complete lines
	noNewline bool  // the last line lacks its newline
}

// CheckPool verifies every line of the pool at path without locking it, so runs may be in
// progress. The error wraps ErrCorrupt and names the damaged line.
func CheckPool(path string) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	s := poolScan{lineReader: newLinewise(file), pool: &Pool{runs: map[string]*pooledRun{}}}
	if err := s.all(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (s *poolScan) all() error {
	for {
		line, ended, err := s.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.line(line, ended); err != nil {
			return err
		}
		if !s.noNewline && !ended {
			return nil // a torn line
		}
		s.good = s.next
	}
}

// line processes one line.
func (s *poolScan) line(line []byte, ended bool) error {
	run, rest, ok := cutRun(line)
	if !ok && !ended {
		return nil
	}
	if !ok {
		return s.corrupt("the line is damaged")
	}
	r := s.pool.runs[string(run)]
	if r == nil || r.ended && isFirstLine(rest) {
		r = newPooled(s.pool, string(run))
	}
	rec, next, err := s.record(rest, r.seq+1, r.tail)
	if err != nil && !ended && torn(rest, r.tail) {
		return nil
	}
	if err == nil && r.seq == 0 && (rec.Kind != Start || rec.Path != r.id) {
		err = s.corrupt("the run has no start")
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", run, err)
	}
	s.noNewline = !ended
	s.addRecord(r, &rec, next)
	return nil
}

func (s *poolScan) addRecord(r *pooledRun, rec *Record, tail Chain) {
	r.seq, r.tail, r.ended = rec.Seq, tail, rec.Kind == End
	r.addSpan(s.at, int(s.next-s.at))
	if s.noNewline {
		r.spans[len(r.spans)-1].size++ // its newline will be added
	}
	if r.ended && (s.pool.o.Done == nil || s.pool.o.Done(r.id)) {
		delete(s.pool.runs, r.id)
		return
	}
	s.pool.runs[r.id] = r
}

// isFirstLine reports whether a line can be the first one of a run.
func isFirstLine(line []byte) bool {
	_, ok := verify(line, Chain{})
	return ok
}

// record verifies and parses a line of a run; the body aliases the line.
func (l *lineReader) record(line []byte, seq uint64, tail Chain) (Record, Chain, error) {
	rec, next, err := readRecord(line, seq, tail)
	if err != nil {
		err = l.atLine(err)
	}
	return rec, next, err
}

// firstRecord reads the first line of b, a span of a pool.
func firstRecord(b []byte, seq uint64, tail Chain) (Record, []byte, Chain, error) {
	line, rest, _ := bytes.Cut(b, []byte{'\n'})
	_, line, ok := cutRun(line)
	if !ok {
		return Record{}, nil, tail, ErrCorrupt
	}
	rec, next, err := readRecord(line, seq, tail)
	return rec, rest, next, err
}
