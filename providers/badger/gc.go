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
	// rewrites bounds how many value log files one GC writes anew.
	rewrites = 10
	// garbage is from which part of it on a value log file is written anew.
	garbage = 0.5
)

// Reclaimed is the size of a store's files before and after GC, in bytes.
type Reclaimed struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// GC gives back the room of what was removed or replaced. It has the store to
// itself meanwhile, twice; others wait. A value log that is damaged is left as it
// is, and the error is a *CorruptError.
func (s *Store) GC(ctx context.Context) (r Reclaimed, err error) {
	if r.Before, err = sizeOf(s.dir); err != nil || r.Before == 0 {
		return r, err
	}
	// A store of its own: one that is closed after each part. Tables are merged
	// at the end of a part, which finds out what is garbage in the value log.
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

// shrink rewrites the value log if none of it is damaged.
func (s *Store) shrink(ctx context.Context, db *lease) error {
	if err := s.checkLogs(ctx); err != nil {
		return err
	}
	return s.rewrite(ctx, db)
}

// rewrite writes the value log files with much garbage anew.
func (s *Store) rewrite(ctx context.Context, db *lease) error {
	if err := db.Flatten(2); err != nil {
		return err
	}
	for range rewrites {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := db.RunValueLogGC(garbage)
		if errors.Is(err, badger.ErrNoRewrite) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes what writes that did not end have left behind the counters.
func (s *Store) sweep(ctx context.Context, db *lease) error {
	var left []entry
	err := db.View(func(txn *badger.Txn) error {
		return s.conversations(ctx, txn, []byte{'t'}, func(at address, _ int64) error {
			next, counted, err := number(txn, at.next())
			if err != nil || !counted {
				return err
			}
			found, err := leftOver(txn, at, next)
			left = append(left, found...)
			return err
		})
	})
	if err != nil || len(left) == 0 {
		return err
	}
	if err := db.sentinel.write(s.dir); err != nil {
		return err
	}
	return db.bulk(left)
}

// leftOver is what stands behind a conversation's counter, or leads there.
func leftOver(txn *badger.Txn, at address, next uint64) ([]entry, error) {
	var out []entry
	it := txn.NewIterator(badger.IteratorOptions{Prefix: at.prefix()})
	defer it.Close()
	for it.Seek(at.sequence(next)); it.ValidForPrefix(at.kind(kindSequence)); it.Next() {
		out = append(out, entry{key: it.Item().KeyCopy(nil)})
	}
	index := at.kind(kindInteraction)
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

// sizeOf sums up the files that hold a directory's store; 0 = there is none.
func sizeOf(dir string) (n int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("size of memory store: %w", err)
	}
	for _, e := range entries {
		if !holdsData(e.Name()) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went meanwhile
		}
		if err != nil {
			return 0, fmt.Errorf("size of memory store: %w", err)
		}
		n += info.Size()
	}
	return n, nil
}
