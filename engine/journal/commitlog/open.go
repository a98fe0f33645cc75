package commitlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/regular"
)

// Names in the folder of the logs.
const (
	firstSuffix  = ".a" // the first segment of a log, which its owner has locked
	secondSuffix = ".b"
)

const defaultLimit = 32 << 20

// firstGeneration is even: a generation is in the segment that is its remainder.
const firstGeneration = 2

// Open creates a log in dir, which it creates if needed. It does not apply the logs that
// are there. The error wraps errors.ErrUnsupported on systems without flock.
func Open(dir string, o Options) (*Log, error) {
	if o.Limit == 0 {
		o.Limit = defaultLimit
	}
	if !regular.CanLock {
		return nil, errors.ErrUnsupported
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	if err := regular.SyncDir(filepath.Dir(dir)); err != nil { // its creator may have been killed before this
		return nil, err
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	l := &Log{o: o, dir: dir, end: position{firstGeneration, 1}}
	path, err := l.unusedPath()
	if err != nil {
		return nil, err
	}
	for i, path := range paths(path) {
		if err = l.create(i, path); err != nil {
			break
		}
	}
	if err == nil {
		err = regular.SyncDir(dir)
	}
	if err != nil {
		l.abandon(path)
		return nil, fmt.Errorf("create commit log: %w", err)
	}
	return l, nil
}

// unusedPath returns the path of the first segment of a new log.
func (l *Log) unusedPath() (string, error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return "", err
	}
	highest := 0
	for _, e := range entries {
		number, _, _ := strings.Cut(e.Name(), ".")
		if n, err := strconv.Atoi(number); err == nil {
			highest = max(highest, n)
		}
	}
	return filepath.Join(l.dir, strconv.Itoa(highest+1)+firstSuffix), nil
}

// create creates a segment. The first one is locked until its file is closed.
func (l *Log) create(i int, path string) error {
	file, err := regular.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	s := &l.segments[i]
	*s = segment{file: synced{file}, limit: l.o.Limit, names: map[string]struct{}{}}
	if l.o.Wrap != nil {
		s.file = l.o.Wrap(s.file)
	}
	if i == 0 {
		if locked, err := regular.TryLock(file); !locked {
			return errors.Join(fs.ErrExist, err)
		}
		l.lock = file
	}
	return s.begin(firstGeneration + uint64(i))
}

// abandon removes a log that could not be created.
func (l *Log) abandon(path string) {
	for i, path := range paths(path) {
		if s := &l.segments[i]; s.file != nil {
			_ = s.file.Close()
		}
		_ = os.Remove(path)
	}
}

// paths returns those of the segments of a log, of the path of the first one.
func paths(first string) [2]string {
	return [2]string{first, strings.TrimSuffix(first, firstSuffix) + secondSuffix}
}

// remove removes a log. The locked segment is last: without it, Recover ignores the other
// one.
func remove(first string) error {
	both := paths(first)
	for _, path := range []string{both[1], both[0]} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return regular.SyncDir(filepath.Dir(first))
}
