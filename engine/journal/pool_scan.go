package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/pexctl/pex/engine/regular"
)

// poolScan goes over a pool once and verifies every line: by the chain of its
// run, and that a run begins with its start.
type poolScan struct {
	*linewise
	pool    *Pool
	good    int64 // length of the whole lines
	unended bool  // the last of them lacks its newline
}

// CheckPool verifies every line of the pool at path without locking it: runs may
// be under way. The error wraps ErrCorrupt and names the line that is damaged.
func CheckPool(path string) error {
	file, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	s := poolScan{linewise: newLinewise(file), pool: &Pool{runs: map[string]*pooled{}}}
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
		if !s.unended && !ended {
			return nil // it is torn
		}
		s.good = s.next
	}
}

// line takes over one line.
func (s *poolScan) line(line []byte, ended bool) error {
	run, rest, ok := cutRun(line)
	if !ok && !ended {
		return nil
	}
	if !ok {
		return s.damaged("the line is damaged")
	}
	r := s.pool.runs[string(run)]
	if r == nil || r.ended && startsAnew(rest) {
		r = newPooled(s.pool, string(run))
	}
	rec, next, err := s.record(rest, r.seq+1, r.tail)
	if err != nil && !ended && torn(rest, r.tail) {
		return nil
	}
	if err == nil && r.seq == 0 && (rec.Kind != Start || rec.Path != r.id) {
		err = s.damaged("the run has no start")
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", run, err)
	}
	s.unended = !ended
	s.took(r, &rec, next)
	return nil
}

func (s *poolScan) took(r *pooled, rec *Record, tail Chain) {
	r.seq, r.tail, r.ended = rec.Seq, tail, rec.Kind == End
	r.keep(s.at, int(s.next-s.at))
	if s.unended {
		r.pieces[len(r.pieces)-1].size++ // its newline will be there
	}
	if r.ended && (s.pool.o.Done == nil || s.pool.o.Done(r.id)) {
		delete(s.pool.runs, r.id)
		return
	}
	s.pool.runs[r.id] = r
}

// startsAnew says that a line may be the first one of a run.
func startsAnew(line []byte) bool {
	_, ok := verify(line, Chain{})
	return ok
}

// record verifies and reads a line of a run; its body is a piece of the line.
func (l *linewise) record(line []byte, seq uint64, tail Chain) (Record, Chain, error) {
	rec, next, err := readRecord(line, seq, tail)
	if err != nil {
		err = l.wrong(err)
	}
	return rec, next, err
}

// firstRecord reads the first line of b, a piece of a pool.
func firstRecord(b []byte, seq uint64, tail Chain) (Record, []byte, Chain, error) {
	line, rest, _ := bytes.Cut(b, []byte{'\n'})
	_, line, ok := cutRun(line)
	if !ok {
		return Record{}, nil, tail, ErrCorrupt
	}
	rec, next, err := readRecord(line, seq, tail)
	return rec, rest, next, err
}
