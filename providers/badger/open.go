package badger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/regular"
)

// Files of this package in a store's directory.
const (
	lockFile     = "pex-store.lock"       // held by the current user
	queueDir     = "pex-store.queue"      // waiting processes in order
	waitFile     = "pex-store.wait"       // waiting processes of earlier versions
	sentinelFile = "pex-store.json"       // what the directory must contain
	witnessFile  = "pex-store.count"      // number of writes
	inboxFile    = "pex-store.inbox"      // appended interactions that are not in the store yet
	inboxLock    = "pex-store.inbox.lock" // held while the inbox is used; contains its extent
)

// tablesBeforeCompaction is how many tables may accumulate before a lease merges them on
// close. Each writing lease adds one; leases are too short for Badger to merge them
// itself.
const tablesBeforeCompaction = 8

// settings returns Badger's options: little memory, checksums verified, every commit
// synced. A small memtable makes opening fast.
func settings(dir string) badger.Options {
	return badger.DefaultOptions(dir).
		WithLogger(nil).
		WithSyncWrites(true).
		WithMemTableSize(1 << 20).WithNumMemtables(2).
		WithNumLevelZeroTables(2).WithNumLevelZeroTablesStall(4).
		WithNumCompactors(2).
		WithValueLogFileSize(16 << 20).
		WithValueThreshold(64 << 10).
		WithCompression(options.None).WithBlockCacheSize(0).WithIndexCacheSize(0).
		WithChecksumVerificationMode(options.OnTableRead).
		WithVerifyValueChecksum(true).
		WithDetectConflicts(true).
		WithMetricsEnabled(false).
		WithNumGoroutines(2)
}

// open takes the lock, checks the directory and opens Badger. On failure it leaves
// nothing open.
func (s *Store) open(ctx context.Context, db *lease) (err error) {
	if err := makeDir(s.dir); err != nil {
		return fmt.Errorf("create memory store: %w", err)
	}
	if db.lock, err = s.acquireLock(ctx); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.releaseFiles())
		}
	}()
	if err := s.checkSpace(s.o.freeSpace()); err != nil {
		return err
	}
	files, err := list(s.dir)
	if err != nil {
		return err
	}
	if db.sentinel, err = s.inspect(files); err != nil {
		return err
	}
	if db.witness, err = openWitness(s.dir); err != nil {
		return err
	}
	o := settings(s.dir).WithCompactL0OnClose(s.merge || files.count(".sst") >= tablesBeforeCompaction)
	if db.sentinel.Phase == closed {
		o = o.WithChecksumVerificationMode(options.NoVerification) // all tables were checked above
	}
	if err := db.sentinel.markOpening(s.dir, files); err != nil {
		return err
	}
	if db.DB, err = s.openBadger(ctx, o); err != nil {
		return err
	}
	failpoint.At(failpoint.MemoryOpened)
	if err := errors.Join(s.verify(db), db.sentinel.markOpened(s.dir)); err != nil {
		return errors.Join(err, closeBadger(db.DB))
	}
	return nil
}

// makeDir creates a missing directory and syncs its parent.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return regular.SyncDir(filepath.Dir(dir))
}

// verify compares the opened store with sentinel and witness.
func (s *Store) verify(db *lease) error {
	writes, err := db.writes()
	if err != nil {
		return s.damaged("the counter of the store", err)
	}
	if want := max(db.sentinel.Writes, db.witness.count); writes < want {
		return s.damaged(fmt.Sprintf("it has %d writes instead of %d", writes, want), nil)
	}
	return nil
}

// writes returns the number of writes made to the store.
func (db *lease) writes() (n uint64, err error) {
	err = db.View(func(txn *badger.Txn) (err error) {
		n, _, err = number(txn, writesKey)
		return err
	})
	return n, err
}

// close closes Badger, updates the sentinel and releases the lock.
func (s *Store) close(db *lease) error {
	writes, err := db.writes()
	failpoint.At(failpoint.MemoryClosing)
	err = errors.Join(err, db.sentinel.markClosing(s.dir), closeBadger(db.DB))
	failpoint.At(failpoint.MemoryClosed)
	if err == nil {
		err = db.sentinel.markClosed(s.dir, writes)
	}
	if err = errors.Join(err, db.releaseFiles()); err != nil {
		return fmt.Errorf("close memory store %s: %w", s.dir, err)
	}
	return nil
}

// releaseFiles closes this package's files, the lock last.
func (db *lease) releaseFiles() error {
	var err error
	if db.witness != nil {
		err = db.witness.file.Close()
	}
	return errors.Join(err, db.lock.Close())
}

// openBadger opens the files. It retries once if a killed process left an empty file,
// which fails only the next opening, and while another program holds Badger's lock.
func (s *Store) openBadger(ctx context.Context, o badger.Options) (*badger.DB, error) {
	w := wait{store: s, start: time.Now()}
	for attempt := 1; ; {
		db, err := openRecovering(o)
		switch {
		case err == nil:
			return db, nil
		case strings.Contains(err.Error(), "Cannot acquire directory lock"):
			if ctx.Err() != nil || w.timedOut() {
				return nil, &LockedError{Dir: s.dir, PID: pidIn(filepath.Join(s.dir, "LOCK")), Waited: time.Since(w.start), Err: ctx.Err()}
			}
			w.report()
			pause(ctx, 20*time.Millisecond)
		case strings.Contains(err.Error(), "Create a new file") && attempt < 3:
			attempt++
		default:
			return nil, s.openError(err)
		}
	}
}

// openError distinguishes damage from errors of the operating system, which Badger
// returns as text.
func (s *Store) openError(err error) error {
	for _, e := range []error{syscall.ENOSPC, syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if strings.Contains(err.Error(), e.Error()) {
			return fmt.Errorf("open memory store %s: %w", s.dir, errors.Join(err, e))
		}
	}
	return s.damaged("it cannot be opened", err)
}

// openRecovering opens Badger and converts panics, which damaged files can cause, to
// errors.
func openRecovering(o badger.Options) (db *badger.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, fmt.Errorf("badger: %v", p)
		}
	}()
	return badger.Open(o)
}

func closeBadger(db *badger.DB) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("badger: %v", p)
		}
	}()
	return db.Close()
}

// witness counts the store's writes in a separate file. It reveals a log that lost its
// end, even after a process was killed. It is written after each write and not synced:
// after a power loss it may be behind, which only makes the next check less strict.
type witness struct {
	file  *os.File
	count uint64
}

// openWitness reads the count; an incomplete file counts 0.
func openWitness(dir string) (*witness, error) {
	f, err := regular.OpenFile(filepath.Join(dir, witnessFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open memory store: %w", err)
	}
	w := &witness{file: f}
	var raw [12]byte
	_, err = f.ReadAt(raw[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		f.Close()
		return nil, fmt.Errorf("read memory store: %w", err)
	}
	if err == nil && crc32.ChecksumIEEE(raw[:8]) == binary.BigEndian.Uint32(raw[8:]) {
		w.count = binary.BigEndian.Uint64(raw[:8])
	}
	return w, nil
}

// record stores n as the count.
func (w *witness) record(n uint64) error {
	raw := binary.BigEndian.AppendUint64(nil, n)
	raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	if _, err := w.file.WriteAt(raw, 0); err != nil {
		return fmt.Errorf("write %s: %w", witnessFile, err)
	}
	w.count = n
	return nil
}
