package badger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/pexctl/pex/engine/failpoint"
)

// change is one write. at takes effect atomically. before and after contain only
// invisible data, such as interactions beyond the counter, which may remain if the write
// is interrupted.
type change struct{ before, at, after []entry }

// entry is a key to set, or to delete if value is nil.
type entry struct{ key, value []byte }

// write plans a change on the current data and commits it. A plan with an empty at changes nothing.
func (s *Store) write(db *lease, plan func(*badger.Txn) (change, error)) error {
	db.writing.Lock()
	defer db.writing.Unlock()
	var c change
	var writes uint64
	err := db.View(func(txn *badger.Txn) (err error) {
		if writes, _, err = number(txn, writesKey); err != nil {
			return s.damaged("the counter of the store", err)
		}
		c, err = plan(txn)
		return err
	})
	if err != nil || len(c.at) == 0 {
		return err
	}
	if err := s.checkWrite(c.size()); err != nil {
		return err
	}
	if err := db.sentinel.markWriting(s.dir); err != nil {
		return err
	}
	c.at = append(c.at, entry{writesKey, encodeNumber(writes + 1)})
	failpoint.At(failpoint.MemoryBefore)
	if err := db.commit(c); err != nil {
		return err
	}
	failpoint.At(failpoint.MemoryWritten)
	err = db.witness.record(writes + 1)
	failpoint.At(failpoint.MemoryAfter)
	return err
}

func (c change) size() int {
	n := 0
	for _, e := range slices.Concat(c.before, c.at) {
		n += len(e.key) + len(e.value)
	}
	return n
}

// commit applies a change in one transaction, or part by part if it is too large.
func (db *lease) commit(c change) error {
	err := db.Update(func(txn *badger.Txn) error { return setAll(txn, slices.Concat(c.before, c.at, c.after)) })
	if !errors.Is(err, badger.ErrTxnTooBig) {
		return err
	}
	if err := db.bulk(c.before); err != nil {
		return err
	}
	if err := db.Update(func(txn *badger.Txn) error { return setAll(txn, c.at) }); err != nil {
		return err
	}
	return db.bulk(c.after)
}

func setAll(txn *badger.Txn, entries []entry) error {
	for _, e := range entries {
		if err := e.applyTo(txn); err != nil {
			return err
		}
	}
	return nil
}

// setter is a transaction or a batch.
type setter interface {
	Set(key, value []byte) error
	Delete(key []byte) error
}

func (e entry) applyTo(s setter) error {
	if e.value == nil {
		return s.Delete(e.key)
	}
	return s.Set(e.key, e.value)
}

// bulk applies entries in order, in as many transactions as needed.
func (db *lease) bulk(entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	b := db.NewWriteBatch()
	defer b.Cancel()
	for _, e := range entries {
		if err := e.applyTo(b); err != nil {
			return err
		}
	}
	return b.Flush()
}

// Remove deletes a conversation with its session state. The error wraps fs.ErrNotExist if
// there is none. When it returns nil the removal is durable; GC reclaims the space.
func (s *Store) Remove(ctx context.Context, memoryID string) error {
	at := s.at(memoryID)
	if err := at.check(); err != nil {
		return err
	}
	found := false
	err := s.withExisting(ctx, func(db *lease) error {
		return s.write(db, func(txn *badger.Txn) (c change, err error) {
			c, found, err = s.removal(ctx, txn, at)
			return c, err
		})
	})
	if err != nil {
		return fmt.Errorf("remove memory %s: %w", memoryID, err)
	}
	if !found {
		return fmt.Errorf("remove memory %s: no such conversation: %w", memoryID, fs.ErrNotExist)
	}
	return nil
}

// removal plans the removal of a conversation. A counter of 0 and no session remove it; the rest can be deleted later.
func (s *Store) removal(ctx context.Context, txn *badger.Txn, at address) (c change, found bool, err error) {
	next, _, err := number(txn, at.next())
	if err != nil {
		return c, false, s.damaged("the counter of conversation "+at.memoryID, err)
	}
	found = next > 0
	it := txn.NewIterator(badger.IteratorOptions{Prefix: at.prefix()})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := ctx.Err(); err != nil {
			return c, false, err
		}
		k, ok := parseKey(it.Item().Key())
		switch {
		case !ok || k.kind == kindNext:
		case k.kind == kindSession:
			found = true
		default:
			c.after = append(c.after, entry{key: it.Item().KeyCopy(nil)})
		}
	}
	c.at = []entry{{at.next(), encodeNumber(0)}, {key: at.session()}}
	c.after = append(c.after, entry{key: at.next()})
	if !found && len(c.after) == 1 {
		return change{}, false, nil
	}
	return c, found, nil
}
