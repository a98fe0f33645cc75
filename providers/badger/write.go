package badger

import (
	"errors"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/pexctl/pex/engine/failpoint"
)

// change is what one write does. At takes effect in one piece. Before and after
// are what nobody sees: interactions behind their conversation's counter. They
// may be there although at never comes, and be left over when it has come.
type change struct{ before, at, after []entry }

// entry is a value to set; without a value its key is deleted.
type entry struct{ key, value []byte }

// write plans a change on what is there now, and makes it. A plan without an
// at changes nothing.
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
	if err := db.sentinel.write(s.dir); err != nil {
		return err
	}
	c.at = append(c.at, entry{writesKey, eight(writes + 1)})
	failpoint.At(failpoint.MemoryBefore)
	if err := db.commit(c); err != nil {
		return err
	}
	failpoint.At(failpoint.MemoryWritten)
	err = db.witness.note(writes + 1)
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

// commit makes a change in one transaction, or in the order of its parts where
// it is too large for one.
func (db *lease) commit(c change) error {
	err := db.Update(func(txn *badger.Txn) error { return set(txn, slices.Concat(c.before, c.at, c.after)) })
	if !errors.Is(err, badger.ErrTxnTooBig) {
		return err
	}
	if err := db.bulk(c.before); err != nil {
		return err
	}
	if err := db.Update(func(txn *badger.Txn) error { return set(txn, c.at) }); err != nil {
		return err
	}
	return db.bulk(c.after)
}

func set(txn *badger.Txn, entries []entry) error {
	for _, e := range entries {
		if err := e.in(txn); err != nil {
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

func (e entry) in(s setter) error {
	if e.value == nil {
		return s.Delete(e.key)
	}
	return s.Set(e.key, e.value)
}

// bulk makes entries in as many transactions as it takes, in their order.
func (db *lease) bulk(entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	b := db.NewWriteBatch()
	defer b.Cancel()
	for _, e := range entries {
		if err := e.in(b); err != nil {
			return err
		}
	}
	return b.Flush()
}
