package shelf

import (
	"context"
	"errors"
	"fmt"

	"github.com/blevesearch/bleve/v2/mapping"

	"github.com/pexctl/pex/providers/bleve/shelf/index"
)

// maxBroken is how often an index is made anew in its folder.
const maxBroken = 2

// Shelf is the place of one index. It is not safe for concurrent use; another
// one of the same folder is, in this process or another.
type Shelf struct {
	dir     string
	mapping *mapping.IndexMappingImpl
	memory  *index.Index // nil = none is in use
	broken  int
}

// Loan is the use of an index until it is returned.
type Loan struct {
	Index *index.Index
	shelf *Shelf
	desk  *desk // nil = it is in memory
}

// At is the shelf in a folder, which is made when an index is taken; "" is one
// that keeps its index in memory.
func At(dir string, m *mapping.IndexMappingImpl) *Shelf { return &Shelf{dir: dir, mapping: m} }

// Take gives the index to one caller alone, who has to return it. An index that
// cannot be kept is one in memory, which is told.
func (s *Shelf) Take(ctx context.Context, told func(string)) (*Loan, error) {
	if s.dir == "" {
		return s.inMemory("", told)
	}
	if s.broken >= maxBroken {
		return s.inMemory("the index is not kept, so the next process makes it anew: its folder breaks it", told)
	}
	d, err := sit(ctx, s.dir)
	if err != nil {
		return nil, err
	}
	wait := patience
	if s.memory != nil {
		wait = 0
	}
	err = d.open(ctx, s.mapping, wait)
	switch {
	case err == nil:
		s.drop()
		return &Loan{d.index, s, d}, nil
	case ctx.Err() != nil:
		d.rise()
		return nil, ctx.Err()
	}
	d.rise()
	if errors.Is(err, index.ErrBusy) {
		return s.inMemory("another process has the index, so this one makes its own", told)
	}
	return s.inMemory(fmt.Sprintf("the index is not kept, so the next process makes it anew: %v", err), told)
}

// inMemory gives the index of this process, and tells why when it is new.
func (s *Shelf) inMemory(why string, told func(string)) (_ *Loan, err error) {
	if s.memory != nil && s.memory.Full() {
		s.drop()
	}
	if s.memory == nil {
		if why != "" {
			told(why)
		}
		if s.memory, err = index.InMemory(s.mapping); err != nil {
			return nil, err
		}
	}
	return &Loan{Index: s.memory, shelf: s}, nil
}

// drop ends the use of the index in memory.
func (s *Shelf) drop() {
	if s.memory != nil {
		_ = s.memory.Close()
		s.memory = nil
	}
}

// Return gives the index back, with the error that its use ended with: after
// index.ErrBroken there will be a new one.
func (l *Loan) Return(err error) {
	switch broken := errors.Is(err, index.ErrBroken); {
	case l.desk == nil && broken:
		l.Index.Abandon()
		l.shelf.memory = nil
	case l.desk != nil && broken:
		l.shelf.broken++
		l.desk.discard()
	}
	if l.desk != nil {
		l.desk.rise()
	}
}
