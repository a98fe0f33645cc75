package badger

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/pexctl/pex/engine"
)

// Options are what a store may be told; the zero value is right for most.
type Options struct {
	Tenant    string        // whose conversations; "" is a tenant like others
	FreeSpace int64         // bytes that must be free on the disk; 0 = 96 MB
	LockWait  time.Duration // how long to wait for another process; 0 = 10 s
}

func (o Options) freeSpace() int64 {
	if o.FreeSpace > 0 {
		return o.FreeSpace
	}
	return 96 << 20
}

func (o Options) lockWait() time.Duration {
	if o.LockWait > 0 {
		return o.LockWait
	}
	return 10 * time.Second
}

// Store keeps conversations in a directory. Safe for concurrent use, also by
// several processes and by several Stores on one directory. Nothing is held
// open between operations, so there is nothing to close.
type Store struct {
	dir string
	o   Options

	mu      sync.Mutex
	session *session // nil = closed
	yield   bool     // the last session ran its time: let others go first
}

var _ engine.Memory = (*Store)(nil)

// Open names a store. The directory is made, and opened, by the first
// operation; what is wrong with it shows then.
func Open(dir string, o Options) *Store { return &Store{dir: dir, o: o} }

// History returns the interactions of a conversation, oldest first. An unknown
// id is an empty conversation.
func (s *Store) History(ctx context.Context, memoryID string) ([]engine.Interaction, error) {
	if err := s.checkNames(memoryID); err != nil {
		return nil, err
	}
	var out []engine.Interaction
	err := s.with(ctx, func(db *session) error {
		return db.View(func(txn *badger.Txn) error {
			var err error
			out, err = s.read(ctx, txn, memoryID)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read memory %s: %w", memoryID, err)
	}
	return out, nil
}

// read collects a conversation. Its sequence must have no gap and end where
// the counter says: a store that lost a part must not pass for a shorter one.
func (s *Store) read(ctx context.Context, txn *badger.Txn, memoryID string) ([]engine.Interaction, error) {
	next, err := number(txn, conversation(s.o.Tenant, memoryID, kindNext))
	if err != nil {
		return nil, s.damaged("the counter of conversation "+memoryID, err)
	}
	prefix := conversation(s.o.Tenant, memoryID, kindSequence)
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix, PrefetchValues: false})
	defer it.Close()
	out := make([]engine.Interaction, 0, min(next, 1024))
	for it.Rewind(); it.Valid(); it.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := uint64(len(out))
		if !bytes.Equal(it.Item().Key(), sequenceKey(s.o.Tenant, memoryID, n)) {
			return nil, s.damaged(fmt.Sprintf("interaction %d of conversation %s is missing", n, memoryID), nil)
		}
		in, err := decode(it.Item())
		if err != nil {
			return nil, s.damaged(fmt.Sprintf("interaction %d of conversation %s", n, memoryID), err)
		}
		out = append(out, in)
	}
	if uint64(len(out)) != next {
		return nil, s.damaged(fmt.Sprintf("conversation %s has %d interactions, %d were written", memoryID, len(out), next), nil)
	}
	return out, nil
}

// Append adds an interaction; one with the same ID is replaced where it
// stands. When it returns nil the interaction is on the disk.
func (s *Store) Append(ctx context.Context, in engine.Interaction) error {
	if err := errors.Join(s.checkNames(in.MemoryID), checkName("interaction id", in.ID)); err != nil {
		return err
	}
	if in.ID == "" {
		return errors.New("append to memory: the interaction has no id")
	}
	raw, err := encodeRecord(in)
	if err != nil {
		return err
	}
	err = s.with(ctx, func(db *session) error {
		return db.write(ctx, s.dir, func(txn *badger.Txn) error { return s.put(txn, in, raw) })
	})
	if err != nil {
		return fmt.Errorf("append to memory %s: %w", in.MemoryID, err)
	}
	return nil
}

// put writes an interaction at its place, or at the end of its conversation.
func (s *Store) put(txn *badger.Txn, in engine.Interaction, raw []byte) error {
	index := interactionKey(s.o.Tenant, in.MemoryID, in.ID)
	item, err := txn.Get(index)
	if err == nil {
		return s.replace(txn, in, raw, item)
	}
	if !errors.Is(err, badger.ErrKeyNotFound) {
		return s.damaged("the index of conversation "+in.MemoryID, err)
	}
	counter := conversation(s.o.Tenant, in.MemoryID, kindNext)
	n, err := number(txn, counter)
	if err != nil {
		return s.damaged("the counter of conversation "+in.MemoryID, err)
	}
	total, err := number(txn, totalKey)
	if err != nil {
		return s.damaged("the counter of the store", err)
	}
	return errors.Join(
		txn.Set(sequenceKey(s.o.Tenant, in.MemoryID, n), raw),
		txn.Set(index, eight(n)),
		txn.Set(counter, eight(n+1)),
		txn.Set(totalKey, eight(total+1)),
	)
}

// replace writes over an interaction, unless it would change nothing.
func (s *Store) replace(txn *badger.Txn, in engine.Interaction, raw []byte, index *badger.Item) error {
	n, err := toNumber(index)
	if err != nil {
		return s.damaged("the place of interaction "+in.ID, err)
	}
	key := sequenceKey(s.o.Tenant, in.MemoryID, n)
	item, err := txn.Get(key)
	if err != nil {
		return s.damaged("interaction "+in.ID+" of conversation "+in.MemoryID, err)
	}
	old, err := item.ValueCopy(nil)
	if err == nil && bytes.Equal(old, raw) {
		return nil
	}
	return txn.Set(key, raw)
}

func (s *Store) checkNames(memoryID string) error {
	if memoryID == "" {
		return errors.New("memory id is empty")
	}
	return errors.Join(checkName("memory id", memoryID), checkName("tenant", s.o.Tenant))
}

func (s *Store) damaged(what string, err error) error {
	return &CorruptError{Dir: s.dir, What: what, Err: err}
}

func decode(item *badger.Item) (engine.Interaction, error) {
	var in engine.Interaction
	err := item.Value(func(raw []byte) (err error) {
		in, err = decodeRecord(raw)
		return err
	})
	return in, err
}

// number reads a counter; one that is not there is 0.
func number(txn *badger.Txn, key []byte) (uint64, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return toNumber(item)
}

func toNumber(item *badger.Item) (n uint64, err error) {
	err = item.Value(func(raw []byte) error {
		if len(raw) != 8 {
			return fmt.Errorf("a number of %d bytes", len(raw))
		}
		n = binary.BigEndian.Uint64(raw)
		return nil
	})
	return n, err
}

func eight(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
