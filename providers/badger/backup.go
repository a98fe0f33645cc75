package badger

import (
	"context"
	"fmt"
	"io"
	"io/fs"
)

// Backup writes all that the store holds, of every tenant, as it is at one
// moment. The store stays open meanwhile and other processes wait, so w should
// be a file rather than somebody who reads slowly. Without a store the error
// wraps fs.ErrNotExist and nothing is written.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	there := false
	err := s.reading(ctx, func(db *lease) error {
		there = true
		f, err := newFrame(until{ctx, w})
		if err != nil {
			return err
		}
		if _, err := db.Backup(f.buf, 0); err != nil {
			return err
		}
		return f.end()
	})
	if err == nil && !there {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("back up memory store %s: %w", s.dir, err)
	}
	return nil
}

// until is a writer that fails once the context has ended.
type until struct {
	ctx context.Context
	w   io.Writer
}

func (u until) Write(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(b)
}
