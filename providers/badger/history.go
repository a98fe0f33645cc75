package badger

import (
	"bytes"
	"context"
	"fmt"

	"github.com/dgraph-io/badger/v4"
	"github.com/pexctl/pex/engine/memory"
)

// History returns the interactions of a conversation, oldest first; none for an unknown
// id.
func (s *Store) History(ctx context.Context, memoryID string) ([]memory.Interaction, error) {
	at := s.at(memoryID)
	if err := at.check(); err != nil {
		return nil, err
	}
	var out []memory.Interaction
	err := s.withExisting(ctx, func(db *lease) error {
		return db.View(func(txn *badger.Txn) (err error) {
			out, err = s.read(ctx, txn, at)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read memory %s: %w", memoryID, err)
	}
	return out, nil
}

// read reads a conversation, whose sequence must have no gap up to its counter: lost data
// must not look like a shorter conversation.
func (s *Store) read(ctx context.Context, txn *badger.Txn, at address) ([]memory.Interaction, error) {
	next, counted, err := number(txn, at.next())
	if err != nil {
		return nil, s.damaged("the counter of conversation "+at.memoryID, err)
	}
	it := txn.NewIterator(badger.IteratorOptions{Prefix: at.keyOfKind(kindSequence)})
	defer it.Close()
	out := make([]memory.Interaction, 0, min(next, 1024))
	for it.Rewind(); it.Valid(); it.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := uint64(len(out))
		if counted && n == next {
			break // the rest is left over from an interrupted write
		}
		if !bytes.Equal(it.Item().Key(), at.sequence(n)) {
			return nil, s.damaged(fmt.Sprintf("interaction %d of conversation %s is missing", n, at.memoryID), nil)
		}
		in, err := decode(it.Item())
		if err != nil {
			return nil, s.damaged(fmt.Sprintf("interaction %d of conversation %s", n, at.memoryID), err)
		}
		out = append(out, in)
	}
	if uint64(len(out)) != next {
		return nil, s.damaged(fmt.Sprintf("conversation %s has %d interactions instead of %d", at.memoryID, len(out), next), nil)
	}
	return out, nil
}

func decode(item *badger.Item) (memory.Interaction, error) {
	var in memory.Interaction
	err := item.Value(func(raw []byte) (err error) {
		in, err = decodeRecord(raw)
		return err
	})
	return in, err
}
