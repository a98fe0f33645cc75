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
	stored, err := s.appendToInbox(ctx, additions)
	if err == nil && !stored {
		err = s.with(ctx, func(db *lease) error { return s.add(db, additions) })
	}
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

func (a addition) check() error {
	if a.id == "" {
		return errors.New("append to memory: the interaction has no id")
	}
	return errors.Join(a.at.check(), checkName("interaction id", a.id))
}

// additions encodes interactions.
func (s *Store) additions(ins []memory.Interaction) ([]addition, error) {
	var out []addition
	for _, in := range ins {
		a := addition{at: s.at(in.MemoryID), id: in.ID}
		err := a.check()
		if err == nil {
			a.raw, err = encodeRecord(in)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// unique returns the last addition of those with the same ID, in the position of the
// first.
func unique(additions []addition) []addition {
	type name struct {
		address
		id string
	}
	var out []addition
	positions := map[name]int{}
	for _, a := range additions {
		if i, exists := positions[name{a.at, a.id}]; exists {
			out[i].raw = a.raw
			continue
		}
		positions[name{a.at, a.id}] = len(out)
		out = append(out, a)
	}
	return out
}

// add stores additions in the open store, all or none.
func (s *Store) add(db *lease, additions []addition) error {
	return s.write(db, func(txn *badger.Txn) (change, error) { return s.place(txn, unique(additions)) })
}

// place determines the position of additions: the existing one, or the end of the
// conversation. No two may have the same ID.
func (s *Store) place(txn *badger.Txn, additions []addition) (change, error) {
	var c change
	next, extended := map[address]uint64{}, map[address]bool{}
	for _, a := range additions {
		if _, loaded := next[a.at]; !loaded {
			n, counted, err := number(txn, a.at.next())
			if err != nil {
				return c, s.damaged("the counter of conversation "+a.at.memoryID, err)
			}
			if next[a.at] = n; !counted { // without it, an interrupted write would look like a lost counter
				c.before = append(c.before, entry{a.at.next(), encodeNumber(0)})
			}
		}
		n, old, err := s.locate(txn, a, next[a.at])
		switch {
		case err != nil:
			return c, err
		case old == nil:
			n = next[a.at]
			c.before = append(c.before, entry{a.at.sequence(n), a.raw}, entry{a.at.interaction(a.id), encodeNumber(n)})
			next[a.at], extended[a.at] = n+1, true
		case !bytes.Equal(old, a.raw):
			c.at = append(c.at, entry{a.at.sequence(n), a.raw})
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(extended), address.compare) {
		c.at = append(c.at, entry{at.next(), encodeNumber(next[at])})
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
