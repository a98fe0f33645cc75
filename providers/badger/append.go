package badger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/pexctl/pex/engine/memory"
)

// Append adds all interactions, of one or several conversations, or none. It replaces
// interactions with the same ID in place. When it returns nil they are durable.
func (s *Store) Append(ctx context.Context, ins ...memory.Interaction) error {
	if len(ins) == 0 {
		return ctx.Err()
	}
	additions, err := s.additions(ins)
	if err != nil {
		return &memory.RefusedError{Err: err}
	}
	err = s.with(ctx, func(db *lease) error {
		return s.write(db, func(txn *badger.Txn) (change, error) { return s.place(txn, additions) })
	})
	if err != nil {
		return fmt.Errorf("append to memory %s: %w", ins[0].MemoryID, err)
	}
	return nil
}

// addition is an interaction to store.
type addition struct {
	at  address
	id  string
	raw []byte
}

// additions encodes interactions. Of those with the same ID the last one is stored, in
// the position of the first.
func (s *Store) additions(ins []memory.Interaction) ([]addition, error) {
	var out []addition
	positions := map[[2]string]int{}
	for _, in := range ins {
		at := s.at(in.MemoryID)
		if err := errors.Join(at.check(), checkName("interaction id", in.ID)); err != nil {
			return nil, err
		}
		if in.ID == "" {
			return nil, errors.New("append to memory: the interaction has no id")
		}
		raw, err := encodeRecord(in)
		if err != nil {
			return nil, err
		}
		name := [2]string{in.MemoryID, in.ID}
		if i, exists := positions[name]; exists {
			out[i].raw = raw
			continue
		}
		positions[name] = len(out)
		out = append(out, addition{at, in.ID, raw})
	}
	return out, nil
}

// place determines the position of additions: the existing one, or the end of the
// conversation.
func (s *Store) place(txn *badger.Txn, additions []addition) (change, error) {
	var c change
	next, extended := map[string]uint64{}, map[string]address{}
	for _, a := range additions {
		id := a.at.memoryID
		if _, loaded := next[id]; !loaded {
			n, counted, err := number(txn, a.at.next())
			if err != nil {
				return c, s.damaged("the counter of conversation "+id, err)
			}
			if next[id] = n; !counted { // without it, an interrupted write would look like a lost counter
				c.before = append(c.before, entry{a.at.next(), encodeNumber(0)})
			}
		}
		n, old, err := s.locate(txn, a, next[id])
		switch {
		case err != nil:
			return c, err
		case old == nil:
			n = next[id]
			c.before = append(c.before, entry{a.at.sequence(n), a.raw}, entry{a.at.interaction(a.id), encodeNumber(n)})
			next[id], extended[id] = n+1, a.at
		case !bytes.Equal(old, a.raw):
			c.at = append(c.at, entry{a.at.sequence(n), a.raw})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(extended)) {
		c.at = append(c.at, entry{extended[id].next(), encodeNumber(next[id])})
	}
	return c, nil
}

// locate finds the stored interaction with the same ID; record is nil if there is none.
// An index entry beyond the counter, or for another interaction, is left over from an
// interrupted write.
func (s *Store) locate(txn *badger.Txn, a addition, next uint64) (n uint64, record []byte, err error) {
	n, found, err := number(txn, a.at.interaction(a.id))
	if err != nil {
		return 0, nil, s.damaged("the index of conversation "+a.at.memoryID, err)
	}
	if !found || n >= next {
		return 0, nil, nil
	}
	item, err := txn.Get(a.at.sequence(n))
	if err == nil {
		record, err = item.ValueCopy(nil)
	}
	var in memory.Interaction
	if err == nil {
		in, err = decodeRecord(record)
	}
	if err != nil {
		return 0, nil, s.damaged("interaction "+a.id+" of conversation "+a.at.memoryID, err)
	}
	if in.ID != a.id {
		return 0, nil, nil
	}
	return n, record, nil
}
