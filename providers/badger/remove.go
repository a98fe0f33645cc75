package badger

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/dgraph-io/badger/v4"
)

// Remove deletes a conversation: its interactions, notes and variables. The
// error for one that there is not wraps fs.ErrNotExist. When it returns nil the
// conversation is gone for good; GC gives the room back.
func (s *Store) Remove(ctx context.Context, memoryID string) error {
	at := s.at(memoryID)
	if err := at.check(); err != nil {
		return err
	}
	there := false
	err := s.reading(ctx, func(db *lease) error {
		return s.write(db, func(txn *badger.Txn) (c change, err error) {
			c, there, err = s.removal(ctx, txn, at)
			return c, err
		})
	})
	if err != nil {
		return fmt.Errorf("remove memory %s: %w", memoryID, err)
	}
	if !there {
		return fmt.Errorf("remove memory %s: there is no such conversation: %w", memoryID, fs.ErrNotExist)
	}
	return nil
}

// removal plans it: a counter of 0 and no session are the end of a
// conversation, what else there is can go later.
func (s *Store) removal(ctx context.Context, txn *badger.Txn, at address) (c change, there bool, err error) {
	next, _, err := number(txn, at.next())
	if err != nil {
		return c, false, s.damaged("the counter of conversation "+at.memoryID, err)
	}
	there = next > 0
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
			there = true
		default:
			c.after = append(c.after, entry{key: it.Item().KeyCopy(nil)})
		}
	}
	c.at = []entry{{at.next(), eight(0)}, {key: at.session()}}
	c.after = append(c.after, entry{key: at.next()})
	if !there && len(c.after) == 1 {
		return change{}, false, nil
	}
	return c, there, nil
}
