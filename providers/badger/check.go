package badger

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Damage describes damaged data in a store.
type Damage struct {
	Tenant   string `json:"tenant,omitempty"`
	MemoryID string `json:"memory_id,omitempty"` // "" = the whole store
	What     string `json:"what"`
	Fix      string `json:"fix,omitempty"` // "" = as for the whole store: restore a backup, or start with an empty one
}

func (e *CorruptError) damage(at address) Damage {
	return Damage{at.tenant, at.memoryID, e.what(), e.Fix}
}

// Check reads the whole store and compares every conversation of every tenant with its counter and index. It returns
// all damage found and changes nothing but the place of what is in the inbox. The error reports why the check could not be completed. A missing store has no
// damage.
func (s *Store) Check(ctx context.Context) ([]Damage, error) {
	var out []Damage
	err := ctx.Err()
	if err == nil && !s.isMissing() {
		err = s.lend(ctx, func(db *lease) error {
			importErr := s.importInbox(ctx, db)
			err := db.View(func(txn *badger.Txn) (err error) {
				out, err = s.checkAll(ctx, txn)
				return err
			})
			return errors.Join(err, importErr)
		})
	}
	if corrupt, ok := errors.AsType[*CorruptError](err); ok {
		return append(out, corrupt.damage(address{})), nil
	}
	if err != nil {
		return out, fmt.Errorf("check memory: %w", err)
	}
	return out, nil
}

func (s *Store) checkAll(ctx context.Context, txn *badger.Txn) ([]Damage, error) {
	out, err := s.unknownKeys(ctx, txn)
	if err != nil {
		return out, err
	}
	err = s.conversations(ctx, txn, []byte{'t'}, func(at address, _ int64) error {
		for _, part := range []func(context.Context, *badger.Txn, address) error{s.checkInteractions, s.checkSession} {
			err := part(ctx, txn, at)
			if corrupt, ok := errors.AsType[*CorruptError](err); ok {
				out = append(out, corrupt.damage(at))
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// unknownKeys finds keys that this package did not write.
func (s *Store) unknownKeys(ctx context.Context, txn *badger.Txn) ([]Damage, error) {
	var out []Damage
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		raw := it.Item().Key()
		if _, ok := parseKey(raw); !ok && string(raw) != string(writesKey) {
			out = append(out, Damage{What: fmt.Sprintf("unknown key %.80q", raw)})
		}
	}
	return out, nil
}

// checkInteractions reads a conversation and verifies its index.
func (s *Store) checkInteractions(ctx context.Context, txn *badger.Txn, at address) error {
	all, err := s.read(ctx, txn, at)
	if err != nil {
		return err
	}
	for i, in := range all {
		n, found, err := number(txn, at.interaction(in.ID))
		if err != nil || !found || n != uint64(i) {
			return s.damaged(fmt.Sprintf("the index of conversation %s does not point to interaction %d", at.memoryID, i), err)
		}
		if in.MemoryID != at.memoryID {
			return s.damaged(fmt.Sprintf("interaction %d of conversation %s belongs to conversation %s", i, at.memoryID, in.MemoryID), nil)
		}
	}
	return nil
}

func (s *Store) checkSession(_ context.Context, txn *badger.Txn, at address) error {
	_, _, err := s.readSession(txn, at)
	return err
}
