package badger

import (
	"context"
	"os"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/pexctl/pex/engine/memory"
)

// WithoutWitness makes an idle open store write its write count to the null device.
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

// SplitKey returns the parts of a conversation's key.
func SplitKey(raw []byte) (tenant, memoryID string, kind byte, rest string, ok bool) {
	k, ok := parseKey(raw)
	return k.tenant, k.memoryID, k.kind, k.rest, ok
}

// KeyOf builds a key.
func KeyOf(tenant, memoryID string, kind byte, rest string) []byte {
	return append(address{tenant, memoryID}.keyOfKind(kind), rest...)
}

// ReportWait makes a store report its wait after each of the durations.
func ReportWait(s *Store, waited ...time.Duration) {
	w := wait{store: s, start: time.Now()}
	for _, d := range waited {
		w.reportAt(w.start.Add(d))
	}
}

// Settings and functions that cannot be tested through the API.
var (
	Settings     = settings
	DecodeRecord = decodeRecord
)

// Put writes a raw key, as a newer version or a bug might.
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

// ParseInbox parses an inbox of which a part was acknowledged, all if the part is negative. It returns the ids of the
// interactions, and how many bytes belong to the inbox.
func ParseInbox(raw []byte, acknowledged int) (ids []string, end int64, err error) {
	if acknowledged < 0 {
		return parse(raw, extent{})
	}
	return parse(raw, extent{known: true}.add(raw[:acknowledged]))
}

// ParseChanged parses an inbox whose acknowledged content was another.
func ParseChanged(acknowledged, raw []byte) (ids []string, end int64, err error) {
	return parse(raw, extent{known: true}.add(acknowledged))
}

func parse(raw []byte, acked extent) (ids []string, end int64, err error) {
	lines, all, err := parseInbox(raw, acked)
	for _, line := range lines {
		for _, a := range line {
			ids = append(ids, a.id)
		}
	}
	return ids, all.length, err
}

// EncodeLine encodes a line of an inbox.
func EncodeLine(tenant string, ins ...memory.Interaction) ([]byte, error) {
	additions, err := Open("", Options{Tenant: tenant}).additions(ins)
	if err != nil {
		return nil, err
	}
	return encodeLine(tenant, additions)
}

// RewriteInMemory rewrites the value log of an in-memory database, which has none.
func RewriteInMemory(ctx context.Context) error {
	db, err := badger.Open(badger.DefaultOptions("").WithInMemory(true).WithLogger(nil))
	if err != nil {
		return err
	}
	defer db.Close()
	return new(Store).rewrite(ctx, &lease{DB: db})
}
