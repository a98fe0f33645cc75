package badger

import (
	"context"
	"os"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// WithoutWitness has a store that rests open count its writes nowhere.
func WithoutWitness(s *Store) error {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease.witness.file.Close()
	s.lease.witness.file = f
	return nil
}

// SplitKey is what stands in a key of a conversation, and KeyOf makes one.
func SplitKey(raw []byte) (tenant, memoryID string, kind byte, rest string, ok bool) {
	k, ok := parseKey(raw)
	return k.tenant, k.memoryID, k.kind, k.rest, ok
}

// KeyOf makes a key.
func KeyOf(tenant, memoryID string, kind byte, rest string) []byte {
	return append(address{tenant, memoryID}.kind(kind), rest...)
}

// ReportWait has a store report as if it had waited for so long, and so long.
func ReportWait(s *Store, waited ...time.Duration) {
	w := wait{store: s, began: time.Now()}
	for _, d := range waited {
		w.reportAt(w.began.Add(d))
	}
}

// The settings of Badger, and parts that no operation shows by themselves.
var (
	Settings     = settings
	DecodeRecord = decodeRecord
	TryLock      = tryLock
)

// Put writes a key as it is, as a damaged or a later program would.
func Put(ctx context.Context, s *Store, key, value []byte) error {
	return s.with(ctx, func(db *lease) error {
		if err := db.sentinel.markWriting(s.dir); err != nil {
			return err
		}
		return db.bulk([]entry{{key, value}})
	})
}

// Keys returns all keys of a store, in order.
func Keys(ctx context.Context, s *Store) (out []string, err error) {
	err = s.with(ctx, func(db *lease) error {
		return db.View(func(txn *badger.Txn) error {
			it := txn.NewIterator(badger.IteratorOptions{})
			defer it.Close()
			for it.Rewind(); it.Valid(); it.Next() {
				out = append(out, string(it.Item().Key()))
			}
			return nil
		})
	})
	return out, err
}

// RewriteInMemory rewrites the value log of a database that has none.
func RewriteInMemory(ctx context.Context) error {
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		return err
	}
	defer db.Close()
	return new(Store).rewrite(ctx, &lease{DB: db})
}
