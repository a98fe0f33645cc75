package badger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/dgraph-io/badger/v4"
)

const (
	// maxRewrites is how many value log files one GC rewrites.
	maxRewrites = 10
	// garbageRatio is the share of garbage from which a value log file is rewritten.
	garbageRatio = 0.5
)

// Reclaimed is the size of a store's files before and after GC, in bytes.
type Reclaimed struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// GC reclaims the space of removed and replaced data. It uses the store exclusively,
// twice; others wait. It does not touch a damaged value log and returns a *CorruptError.
func (s *Store) GC(ctx context.Context) (r Reclaimed, err error) {
	if r.Before, err = sizeOf(s.dir); err != nil || r.Before == 0 {
		return r, err
	}
	// A separate Store that closes after each part: tables are merged on close, which
	// determines the garbage in the value log.
	own := Open(s.dir, s.o)
	own.o.Idle, own.merge = 0, true
	for _, part := range []func(context.Context, *lease) error{own.sweep, own.shrink} {
		if err := own.with(ctx, func(db *lease) error { return part(ctx, db) }); err != nil {
			return r, fmt.Errorf("collect garbage of memory: %w", err)
		}
	}
	r.After, err = sizeOf(s.dir)
	return r, err
}

// shrink rewrites the value log unless it is damaged.
func (s *Store) shrink(ctx context.Context, db *lease) error {
	if err := s.checkLogs(ctx); err != nil {
		return err
	}
	return s.rewrite(ctx, db)
}

// rewrite rewrites the value log files with much garbage.
func (s *Store) rewrite(ctx context.Context, db *lease) error {
	if err := db.Flatten(2); err != nil {
		return err
	}
	for range maxRewrites {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := db.RunValueLogGC(garbageRatio)
		if errors.Is(err, badger.ErrNoRewrite) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes leftovers of interrupted writes beyond the counters.
func (s *Store) sweep(ctx context.Context, db *lease) error {
	var obsolete []entry
	err := db.View(func(txn *badger.Txn) error {
		return s.conversations(ctx, txn, []byte{'t'}, func(at address, _ int64) error {
			next, counted, err := number(txn, at.next())
			if err != nil || !counted {
				return err
			}
			found, err := leftovers(txn, at, next)
			obsolete = append(obsolete, found...)
			return err
		})
	})
	if err != nil || len(obsolete) == 0 {
		return err
	}
	if err := db.sentinel.markWriting(s.dir); err != nil {
		return err
	}
	return db.bulk(obsolete)
}

// leftovers returns entries beyond a conversation's counter, or pointing there.
func leftovers(txn *badger.Txn, at address, next uint64) ([]entry, error) {
	var out []entry
	it := txn.NewIterator(badger.IteratorOptions{Prefix: at.prefix()})
	defer it.Close()
	for it.Seek(at.sequence(next)); it.ValidForPrefix(at.keyOfKind(kindSequence)); it.Next() {
		out = append(out, entry{key: it.Item().KeyCopy(nil)})
	}
	index := at.keyOfKind(kindInteraction)
	for it.Seek(index); it.ValidForPrefix(index); it.Next() {
		n, err := toNumber(it.Item())
		if err != nil {
			return nil, err
		}
		if n >= next {
			out = append(out, entry{key: it.Item().KeyCopy(nil)})
		}
	}
	return out, nil
}

// sizeOf returns the total size of a store's files; 0 = no store.
func sizeOf(dir string) (n int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("size of memory store: %w", err)
	}
	for _, e := range entries {
		if !isDataFile(e.Name()) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile
		}
		if err != nil {
			return 0, fmt.Errorf("size of memory store: %w", err)
		}
		n += info.Size()
	}
	return n, nil
}
