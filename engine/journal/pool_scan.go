package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

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
	if string(run) == textsRun {
		return s.text(rest, ended)
	}
	r := s.pool.runs[string(run)]
	if r == nil || r.ended && isFirstLine(rest) {
		r = newPooled(s.pool, string(run))
	}
	rec, next, err := s.record(rest, r.seq+1, r.tail)
	if err != nil && !ended && torn(rest, r.tail) {
		return nil
	}
	if err == nil && r.seq == 0 && !starts(&rec, r.id) {
		err = s.corrupt("the run has no start")
	}
	if err == nil && hasReferences(rest) {
		if err = s.pool.texts.index.check(rec.Body); err != nil {
			err = s.atLine(err)
		}
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", run, err)
	}
	s.noNewline = !ended
	s.addRecord(r, &rec, next)
	return nil
}

// starts reports whether a record is the first one of a run. The chain does not cover the
// run id of a line.
func starts(rec *Record, run string) bool { return rec.Kind == Start && rec.Path == run }

// text processes the line of a shared text.
func (s *poolScan) text(line []byte, ended bool) error {
	texts := &s.pool.texts
	text, next, err := parseText(line, texts.index.next(), texts.index.tail)
	if err != nil && !ended && torn(line, texts.index.tail) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("shared text: %w", s.atLine(err))
	}
	s.noNewline = !ended
	texts.add(DigestOf(text), s.span(), next)
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
	rec, next, err := readRecord(line, seq, tail, sharedVersion)
	if err != nil {
		err = l.atLine(err)
	}
	return rec, next, err
}

// poolReader reads the records of one run of a pool. Damage of other runs does not
// matter, and that of texts only if the run refers to them.
type poolReader struct {
	*lineReader
	file  *os.File
	run   string
	recs  []Record
	tail  Chain
	texts textIndex
	lost  error // why there are no further texts
}

func (r *poolReader) all() error {
	for {
		line, ended, err := r.read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		id, line, ok := cutRun(line)
		switch {
		case !ok:
		case string(id) == textsRun:
			r.text(line)
		case string(id) == r.run:
			if err = r.record(line); err != nil && !ended {
				return nil // torn, or being written
			}
		}
		if err != nil {
			return fmt.Errorf("run %s: %w", r.run, r.atLine(err))
		}
	}
}

// text adds a text.
func (r *poolReader) text(line []byte) {
	if r.lost != nil {
		return
	}
	_, next, err := parseText(line, r.texts.next(), r.texts.tail)
	if err != nil {
		r.lost = fmt.Errorf("shared text: %w", r.atLine(err))
		return
	}
	r.texts.add(r.span(), next)
}

// record adds a record of the run.
func (r *poolReader) record(line []byte) error {
	if n := len(r.recs); n > 0 && r.recs[n-1].Kind == End { // the run was started again
		r.recs, r.tail = nil, Chain{}
	}
	rec, next, err := readRecord(line, uint64(len(r.recs)+1), r.tail, sharedVersion)
	if err == nil && rec.Seq == 1 && !starts(&rec, r.run) {
		err = fmt.Errorf("%w: the run has no start", ErrCorrupt)
	}
	if err != nil {
		return err
	}
	rec.By = bytes.Clone(rec.By)
	if !hasReferences(line) {
		rec.Body = bytes.Clone(rec.Body)
	} else if rec.Body, err = r.texts.expand(rec.Body, r.file); err != nil {
		return cmp.Or(r.lost, err)
	}
	r.recs, r.tail = append(r.recs, rec), next
	return nil
}
