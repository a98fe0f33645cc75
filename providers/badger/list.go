package badger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/pexctl/pex/engine/memory"
)

// List returns the conversations of the store's tenant, latest first. It reads the first and last interaction of each.
// Unlike Check, it does not verify the counters.
func (s *Store) List(ctx context.Context) ([]memory.Conversation, error) {
	var out []memory.Conversation
	err := s.withExisting(ctx, func(db *lease) error {
		return db.View(func(txn *badger.Txn) error {
			return s.conversations(ctx, txn, tenantPrefix(s.o.Tenant), func(at address, size int64) error {
				c, err := s.summary(txn, at)
				if c.Bytes = size; err == nil && c.Interactions+c.Notes+c.Variables > 0 {
					out = append(out, c)
				}
				return err
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list memory: %w", err)
	}
	slices.SortFunc(out, func(a, b memory.Conversation) int {
		return cmp.Or(b.Last.Compare(a.Last), strings.Compare(a.MemoryID, b.MemoryID))
	})
	return out, nil
}

// Tenants returns the tenants with conversations, sorted.
func (s *Store) Tenants(ctx context.Context) ([]string, error) {
	var out []string
	err := s.withExisting(ctx, func(db *lease) error {
		return db.View(func(txn *badger.Txn) error {
			return s.conversations(ctx, txn, []byte{'t'}, func(at address, _ int64) error {
				if !slices.Contains(out, at.tenant) {
					out = append(out, at.tenant)
				}
				return nil
			})
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list tenants of memory: %w", err)
	}
	slices.Sort(out)
	return out, nil
}

// conversations calls visit for each conversation below a prefix, with its stored size.
// It skips unknown keys.
func (s *Store) conversations(ctx context.Context, txn *badger.Txn, prefix []byte, visit func(address, int64) error) error {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix})
	defer it.Close()
	var at address
	var size int64
	for it.Rewind(); it.Valid(); it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, ok := parseKey(it.Item().Key())
		if !ok {
			continue
		}
		if k.address != at && at != (address{}) {
			if err := visit(at, size); err != nil {
				return err
			}
			size = 0
		}
		at = k.address
		size += it.Item().EstimatedSize()
	}
	if at == (address{}) {
		return nil
	}
	return visit(at, size)
}

// summary reads the summary of a conversation.
func (s *Store) summary(txn *badger.Txn, at address) (memory.Conversation, error) {
	c := memory.Conversation{MemoryID: at.memoryID}
	session, _, err := s.readSession(txn, at)
	if err != nil {
		return c, err
	}
	c.Notes, c.Variables = len(session.Notes), len(session.Variables)
	if c.Notes > 0 {
		c.First, c.Last = session.Notes[0].At, session.Notes[c.Notes-1].At
	}
	next, _, err := number(txn, at.next())
	if err != nil {
		return c, s.damaged("the counter of conversation "+at.memoryID, err)
	}
	if c.Interactions = int(next); next == 0 {
		return c, nil
	}
	first, err := s.interaction(txn, at, 0)
	if err != nil {
		return c, err
	}
	last, err := s.interaction(txn, at, next-1)
	c.First, c.Last, c.LastQuestion = first.At, last.At, last.Question
	return c, err
}

func (s *Store) interaction(txn *badger.Txn, at address, n uint64) (in memory.Interaction, err error) {
	item, err := txn.Get(at.sequence(n))
	if err == nil {
		in, err = decode(item)
	}
	if err != nil {
		return in, s.damaged(fmt.Sprintf("interaction %d of conversation %s", n, at.memoryID), err)
	}
	return in, nil
}
