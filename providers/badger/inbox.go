package badger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/regular"
)

// maxLine is the maximum size of a line of the inbox. Larger appends open the store.
// Importing that much, and a batch of that much before it, fits one transaction.
const maxLine = 64 << 10

// inbox is the file of appended interactions that are not in the store yet, open and
// locked.
type inbox struct {
	store      *Store
	lock, file *os.File
	extent     extent
}

// errInboxFull reports that the inbox has no room for a line.
var errInboxFull = errors.New("the inbox is full")

// appendToInbox appends additions to the inbox. False = it does not take them: they must
// be added to the store.
func (s *Store) appendToInbox(ctx context.Context, additions []addition) (stored bool, err error) {
	if s.o.Inbox <= 0 || !regular.CanLock {
		return false, nil
	}
	line, err := encodeLine(s.o.Tenant, additions)
	if err != nil || len(line) > maxLine {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	select {
	case s.appending <- struct{}{}:
		defer func() { <-s.appending }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() {
		if errors.Is(err, syscall.ENOSPC) {
			err = &FullError{Dir: s.dir, Need: s.o.freeSpace()}
		}
	}()
	if err := s.prepareInbox(); err != nil {
		return false, err
	}
	in, err := s.openInbox(ctx)
	if err != nil {
		return false, err
	}
	err = in.append(line)
	if err = errors.Join(err, in.close()); errors.Is(err, errInboxFull) {
		return false, nil
	}
	return err == nil, err
}

// prepareInbox checks that the store is not closed, creates its directory, and checks the
// free space, which importing the inbox will need.
func (s *Store) prepareInbox() error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errClosed
	}
	if err := makeDir(s.dir); err != nil {
		return fmt.Errorf("create memory store: %w", err)
	}
	return s.checkSpace(s.o.freeSpace())
}

// openInbox locks and opens the inbox, waiting for other processes until ctx ends or
// Options.LockWait has passed. They hold the lock only for an append or an import.
func (s *Store) openInbox(ctx context.Context) (*inbox, error) {
	w := wait{store: s, start: time.Now(), forInbox: true}
	for {
		in, err := s.tryInbox()
		if in != nil || err != nil {
			return in, err
		}
		if ctx.Err() != nil || w.timedOut() {
			return nil, w.timeoutError(ctx.Err())
		}
		w.report()
		pause(ctx, fastestPoll)
	}
}

// tryInbox opens the inbox if its lock is free; otherwise it returns nil.
func (s *Store) tryInbox() (*inbox, error) {
	lock, err := s.openOwn(inboxLock)
	if err != nil {
		return nil, err
	}
	locked, err := regular.TryLock(lock)
	if err != nil || !locked || wasReplaced(lock) {
		return nil, errors.Join(err, lock.Close())
	}
	in := &inbox{store: s, lock: lock}
	if in.file, err = s.openOwn(inboxFile); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	raw := make([]byte, extentSize+1)
	n, err := lock.ReadAt(raw, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(fmt.Errorf("read memory store: %w", err), in.close())
	}
	in.extent = decodeExtent(raw[:n])
	return in, nil
}

// openOwn opens a file in the store's directory, or creates it.
func (s *Store) openOwn(name string) (*os.File, error) {
	f, err := regular.OpenFile(filepath.Join(s.dir, name), os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, regular.ErrType) {
		return nil, s.damaged(name+" is not a regular file", nil)
	}
	if err != nil {
		return nil, fmt.Errorf("open memory store: %w", err)
	}
	return f, nil
}

// close releases the lock last.
func (in *inbox) close() error { return errors.Join(in.file.Close(), in.lock.Close()) }

// append adds a line. When it returns nil the line is durable.
func (in *inbox) append(line []byte) error {
	if err := in.settle(); err != nil {
		return err
	}
	at := in.extent.length
	if at+int64(len(line)) > in.store.o.Inbox {
		return errInboxFull
	}
	if err := in.write(line); err != nil {
		return fmt.Errorf("write %s: %w", inboxFile, errors.Join(err, in.file.Truncate(at)))
	}
	if err := in.record(in.extent.add(line)); err != nil {
		return err
	}
	failpoint.At(failpoint.InboxAfter)
	return nil
}

// write writes a line at the end and syncs it, and the name of a file that had none.
func (in *inbox) write(line []byte) error {
	at := in.extent.length
	if failpoint.Enabled(failpoint.InboxHalf) {
		if _, err := in.file.WriteAt(line[:len(line)/2], at); err != nil {
			return err
		}
		failpoint.At(failpoint.InboxHalf)
	}
	if _, err := in.file.WriteAt(line, at); err != nil {
		return err
	}
	failpoint.At(failpoint.InboxWritten)
	if err := regular.Sync(in.file); err != nil || at > 0 {
		return err
	}
	return regular.SyncDir(in.store.dir)
}

// record stores the extent. It is not synced: after a power loss it may be behind, which
// only makes the next check less strict.
func (in *inbox) record(e extent) error {
	if _, err := in.lock.WriteAt(e.encode(), 0); err != nil {
		return fmt.Errorf("write %s: %w", inboxLock, err)
	}
	in.extent = e
	return nil
}

// settle determines where the inbox ends, and removes a line that was written only partly.
func (in *inbox) settle() error {
	size, err := in.size()
	if err != nil || in.extent.known && in.extent.length == size {
		return err
	}
	_, all, err := in.parse()
	if err != nil {
		return err
	}
	in.extent = all
	if all.length == size {
		return nil
	}
	return in.file.Truncate(all.length)
}

func (in *inbox) size() (int64, error) {
	info, err := in.file.Stat()
	if err != nil {
		return 0, fmt.Errorf("read memory store: %w", err)
	}
	return info.Size(), nil
}

// parse returns the lines of the inbox and their extent.
func (in *inbox) parse() ([][]addition, extent, error) {
	size, err := in.size()
	if err != nil {
		return nil, extent{}, err
	}
	raw, err := io.ReadAll(io.NewSectionReader(in.file, 0, size))
	if err != nil {
		return nil, extent{}, fmt.Errorf("read memory store: %w", err)
	}
	lines, all, err := parseInbox(raw, in.extent)
	if newer, ok := errors.AsType[newerLineError](err); ok {
		return nil, extent{}, &NewerError{Dir: in.store.dir, Format: int(newer)}
	}
	if damage, ok := errors.AsType[*inboxDamage](err); ok {
		return nil, extent{}, &CorruptError{Dir: in.store.dir, What: damage.what, Fix: damage.fix}
	}
	return lines, all, err
}
