package commitlog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pexctl/pex/engine/regular"
)

// ErrReadOnly is wrapped by the error of Recover about a log that must be applied, but
// cannot be written.
var ErrReadOnly = errors.New("the process that wrote this log did not end cleanly, so it must be applied, but it is read-only")

// Recover calls apply with the frames of all logs in dir whose owner has ended, those of a
// log in the order in which they were added. Apply must make the files durable; then the
// logs are removed. It is not called if there is no such log. Another process that calls
// Recover meanwhile waits. Of a damaged log, apply gets the frames that can be read; the log
// is kept for Damaged.
func Recover(dir string, apply func(frames []Frame) error) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := lockDir(dir)
	if err != nil {
		return fmt.Errorf("recover commit logs: %w", err)
	}
	defer unlock()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("recover commit logs: %w", err)
	}
	var dead []*deadLog
	defer func() {
		for _, l := range dead {
			l.lock.Close()
		}
	}()
	var frames []Frame
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), firstSuffix) {
			continue
		}
		l, err := openDead(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("recover commit log %s: %w", filepath.Join(dir, e.Name()), err)
		}
		if l != nil {
			dead, frames = append(dead, l), append(frames, l.frames...)
		}
	}
	if len(dead) == 0 {
		return nil
	}
	if err := apply(frames); err != nil {
		return fmt.Errorf("recover commit logs of %s: %w", dir, err)
	}
	for _, l := range dead {
		if err := l.remove(); err != nil {
			return fmt.Errorf("recover commit logs: %w", err)
		}
	}
	return nil
}

// Live reports whether dir has a log.
func Live(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), firstSuffix) })
}

// deadLog is a log whose owner has ended, locked.
type deadLog struct {
	path string // of the first segment
	lock *os.File
	contents
}

// openDead locks and reads a log. It returns nil if the owner is alive, or has closed the
// log, or if there is nothing in the log and it cannot be removed.
func openDead(path string) (*deadLog, error) {
	file, err := regular.OpenFile(path, os.O_RDWR, 0)
	readOnly := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	if readOnly {
		file, err = regular.Open(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &deadLog{path: path, lock: file}
	locked, err := regular.TryLock(file)
	if err == nil && locked {
		l.contents, err = read(path)
	}
	if err == nil && readOnly && len(l.frames) > 0 {
		err = ErrReadOnly
	}
	if err != nil || !locked || readOnly {
		file.Close()
		return nil, err
	}
	return l, nil
}

// remove removes a log that was applied, unless it is damaged: then it sets it aside.
func (l *deadLog) remove() error {
	if l.damage != "" {
		return setAside(l.path)
	}
	return remove(l.path)
}

// contents is what a log has.
type contents struct {
	frames []Frame
	damage string // "" = none
}

// read reads both segments of a log, the older one first.
func read(first string) (contents, error) {
	var all []scan
	for _, path := range paths(first) {
		b, err := regular.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return contents{}, err
		}
		s := scanSegment(b)
		s.name = filepath.Base(path)
		all = append(all, s)
	}
	return join(all), nil
}

// join returns the contents of a log with these segments.
func join(all []scan) (c contents) {
	slices.SortFunc(all, func(a, b scan) int { return cmp.Compare(a.generation, b.generation) })
	next := uint64(0)
	for _, s := range all {
		if s.damaged >= 0 {
			c.damage = fmt.Sprintf("%s is damaged at byte %d", s.name, s.damaged)
		}
		if s.next == 0 {
			continue
		}
		if next > 0 && s.first != next && c.damage == "" {
			c.damage = fmt.Sprintf("blocks %d to %d are missing before %s", next, s.first-1, s.name)
		}
		c.frames, next = append(c.frames, s.frames...), s.next
	}
	return c
}

// scan is the frames of a segment.
type scan struct {
	name        string
	generation  uint64
	first, next uint64 // numbers of the first block, and of the one after the last; 0 = none
	frames      []Frame
	damaged     int // offset of the first damage; -1 = none
}

// scanSegment reads the blocks of a segment. A block that is not valid is where the segment
// ends, or where power was lost while the block was written, unless there is a later
// one: that was only written after this one was durable.
func scanSegment(b []byte) scan {
	s := scan{damaged: -1}
	if header, _, size := parseBlock(b); size > 0 {
		s.generation = header.generation
	} else if s.generation = latest(b); s.generation > 0 || !isZero(b[:min(align, len(b))]) {
		s.damaged = 0
	}
	gap := -1
	for at := align; at < len(b); {
		p, frames, size := parseBlock(b[at:])
		if size == 0 || p.generation != s.generation || p.number < s.next {
			if gap < 0 {
				gap = at
			}
			at += align
			continue
		}
		if gap >= 0 && s.damaged < 0 {
			s.damaged = gap
		}
		if s.next == 0 {
			s.first = p.number
		}
		s.frames, s.next = append(s.frames, frames...), p.number+1
		at += size
	}
	return s
}

// latest returns the highest generation of a block.
func latest(b []byte) (generation uint64) {
	for at := 0; at < len(b); at += align {
		if p, _, size := parseBlock(b[at:]); size > 0 {
			generation = max(generation, p.generation)
		}
	}
	return generation
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// damagedPrefix starts the names of the folders with logs that were damaged.
const damagedPrefix = "damaged-"

// setAside moves a damaged log to a folder of its own.
func setAside(first string) error {
	dir := filepath.Dir(first)
	folder, err := os.MkdirTemp(dir, damagedPrefix)
	if err != nil {
		return err
	}
	for _, path := range paths(first) {
		if err := os.Rename(path, filepath.Join(folder, filepath.Base(path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(regular.SyncDir(folder), regular.SyncDir(dir))
}

// Damage is a log in which blocks are missing. What could be read of it was applied.
type Damage struct {
	Folder string // with the log
	What   string
	Names  []string // of the files with frames that could be read, sorted
}

// Damaged returns the damaged logs that Recover has kept in dir.
func Damaged(dir string) ([]Damage, error) {
	logs, err := filepath.Glob(filepath.Join(dir, damagedPrefix+"*", "*"+firstSuffix))
	if err != nil {
		return nil, err
	}
	var all []Damage
	for _, path := range logs {
		c, err := read(path)
		if err != nil {
			return nil, err
		}
		d := Damage{Folder: filepath.Dir(path), What: c.damage}
		for _, f := range c.frames {
			d.Names = append(d.Names, f.Name)
		}
		slices.Sort(d.Names)
		d.Names = slices.Compact(d.Names)
		all = append(all, d)
	}
	return all, nil
}
