package badger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/regular"
)

// importInbox moves the content of the inbox to the open store. If it is interrupted, the
// next operation repeats it, which changes nothing that was imported.
func (s *Store) importInbox(ctx context.Context, db *lease) (err error) {
	if !s.hasFile(inboxFile) && !s.hasFile(inboxLock) {
		return nil
	}
	in, err := s.openInbox(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	lines, _, err := in.parse()
	if err != nil || len(lines) == 0 {
		return err
	}
	var batch []addition
	size := 0
	for i, line := range lines {
		batch = append(batch, line...)
		for _, a := range line {
			size += len(a.raw)
		}
		if size < maxLine && i < len(lines)-1 {
			continue
		}
		if err := s.add(db, batch); err != nil {
			return fmt.Errorf("import %s: %w", inboxFile, err)
		}
		batch, size = nil, 0
	}
	failpoint.At(failpoint.InboxImported)
	return in.clear()
}

// clear empties the inbox durably: a removed conversation must not be imported again. The
// extent is first, so that an empty inbox is never mistaken for one that lost its lines.
func (in *inbox) clear() error {
	if err := errors.Join(in.record(extent{known: true}), regular.Sync(in.lock)); err != nil {
		return err
	}
	failpoint.At(failpoint.InboxCleared)
	if err := errors.Join(in.file.Truncate(0), regular.Sync(in.file)); err != nil {
		return fmt.Errorf("empty %s: %w", inboxFile, err)
	}
	return nil
}

func (s *Store) hasFile(name string) bool {
	_, err := os.Lstat(filepath.Join(s.dir, name))
	return !errors.Is(err, fs.ErrNotExist)
}
