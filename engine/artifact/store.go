package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/regular"
)

// Folder is the folder of a home with its artifacts.
const Folder = "artifacts"

// temporary starts the names of uploads that are not complete.
const temporary = ".upload-"

// Info describes an artifact.
type Info struct {
	SHA256 string `json:"sha256"` // lower-case hex
	Size   int64  `json:"size"`   // bytes
}

// QuotaError reports that an artifact exceeds the total size that a store may have. It was
// not stored.
type QuotaError struct{ Max int64 }

// Error returns the message with the maximum.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("the artifacts would take more than %d bytes", e.Max)
}

// Store has the artifacts of a home. It is safe for concurrent use. Other processes may
// use the same home.
type Store struct {
	dir string
	max int64
	mu  sync.Mutex // while the total may grow

	incomplete atomic.Int64 // bytes of uploads that are not complete
}

// Open returns the store of a home, which need not exist. max is the maximum total size of
// its artifacts in bytes; 0 = no limit.
func Open(home string, max int64) *Store {
	return &Store{dir: filepath.Join(home, Folder), max: max}
}

// Path returns the path of an artifact in a home, which need not exist, or "" for an
// invalid digest.
func Path(home, digest string) string { return pathIn(filepath.Join(home, Folder), digest) }

func pathIn(dir, digest string) string {
	if !IsDigest(digest) {
		return ""
	}
	return filepath.Join(dir, digest[:2], digest)
}

// IsDigest reports whether a text is a SHA-256 in lower-case hex.
func IsDigest(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == 2*sha256.Size
}

// Put stores the content of a stream, which it does not hold in memory. The artifact is
// durable when it returns. existed reports that the store had the same content. The error
// wraps journal.ErrFull if the disk is full, and is a *QuotaError if the store is.
func (s *Store) Put(content io.Reader) (info Info, existed bool, err error) {
	if err := s.create(); err != nil {
		return Info{}, false, fmt.Errorf("store an artifact: %w", journal.Full(err))
	}
	f, err := os.CreateTemp(s.dir, temporary+"*")
	if err != nil {
		return Info{}, false, fmt.Errorf("store an artifact: %w", journal.Full(err))
	}
	defer os.Remove(f.Name()) //nolint:errcheck // it was renamed, or Sweep removes it
	hash, in := sha256.New(), &upload{Reader: content, store: s}
	defer func() { s.incomplete.Add(-in.n) }()
	info.Size, err = io.Copy(io.MultiWriter(f, hash), in)
	if err == nil {
		err = regular.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return Info{}, false, fmt.Errorf("store an artifact: %w", journal.Full(err))
	}
	info.SHA256 = hex.EncodeToString(hash.Sum(nil))
	if existed, err = s.place(f.Name(), info); err != nil {
		return Info{}, false, fmt.Errorf("store an artifact: %w", journal.Full(err))
	}
	return info, existed, nil
}

// upload is the content of an incomplete upload. All of them together take no more space than
// the store may have.
type upload struct {
	io.Reader
	store *Store
	n     int64
}

// Read implements io.Reader.
func (u *upload) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if !u.store.reserve(int64(n)) {
		return n, &QuotaError{u.store.max}
	}
	u.n += int64(n)
	return n, err
}

// reserve counts n bytes of an incomplete upload, unless they exceed the maximum. Bytes that
// are rejected are never counted, so that they do not make another upload fail.
func (s *Store) reserve(n int64) bool {
	for {
		was := s.incomplete.Load()
		if s.max > 0 && was+n > s.max {
			return false
		}
		if s.incomplete.CompareAndSwap(was, was+n) {
			return true
		}
	}
}

// create creates the folder of the store.
func (s *Store) create() error {
	if _, err := os.Stat(s.dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return regular.SyncDir(filepath.Dir(s.dir))
}

// place moves a synced file to its place, unless the artifact exists.
func (s *Store) place(file string, info Info) (existed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to := pathIn(s.dir, info.SHA256)
	if was, err := os.Stat(to); err == nil && was.Mode().IsRegular() && was.Size() == info.Size {
		touch(to)
		return true, regular.SyncDir(filepath.Dir(to)) // its upload may have been killed before this
	}
	if s.max > 0 {
		total, err := s.total()
		if err != nil {
			return false, err
		}
		if info.Size > s.max-total {
			return false, &QuotaError{s.max}
		}
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, err
	}
	if err := os.Rename(file, to); err != nil {
		return false, err
	}
	return false, errors.Join(regular.SyncDir(filepath.Dir(to)), regular.SyncDir(s.dir))
}

// total returns the size of all artifacts.
func (s *Store) total() (n int64, err error) {
	err = each(s.dir, func(f file) error {
		if f.SHA256 != "" {
			n += f.Size
		}
		return nil
	})
	return n, err
}

// Use returns an artifact that a new run will use, and keeps Sweep from removing it before
// the run is stored. The error wraps fs.ErrNotExist if there is none.
func (s *Store) Use(digest string) (Info, error) {
	path := pathIn(s.dir, digest)
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() {
		return Info{}, fmt.Errorf("artifact %.80q: %w", digest, fs.ErrNotExist)
	}
	touch(path)
	return Info{digest, info.Size()}, nil
}

// Open opens an artifact for reading. The error wraps fs.ErrNotExist if there is none.
func (s *Store) Open(digest string) (*os.File, error) {
	path := pathIn(s.dir, digest)
	if path == "" {
		return nil, fmt.Errorf("artifact %.80q: %w", digest, fs.ErrNotExist)
	}
	return regular.Open(path)
}

// Size returns the size of an artifact. The error wraps fs.ErrNotExist if there is none.
func (s *Store) Size(digest string) (int64, error) {
	f, err := s.Open(digest)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// touch marks an artifact as used now.
func touch(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now) // it is then removed earlier, if no run uses it
}
