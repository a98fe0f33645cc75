package journal

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// Log is an append-only JSON Lines file with the hash chain of a journal: damaged and
// missing lines are detected. Lines are written at once and synced shortly after; appends
// share writes and syncs. A Log takes no lock; the caller must.
type Log struct {
	appender
	path    string
	tail    Chain
	lines   int
	size    int64 // length including what waits to be written
	dropped int

	wrap func(disk) disk // for tests with failing disks
}

// OpenLog opens the log at path, creating it if needed, and calls line with each existing
// line, valid for that call. It drops a torn last line. The error wraps ErrCorrupt and
// names the line if any other is damaged. The caller must close the Log.
func OpenLog(path string, line func(Line) error) (*Log, error) {
	return openLog(path, line, nil)
}

func openLog(path string, line func(Line) error, wrap func(disk) disk) (*Log, error) {
	l := &Log{path: path, wrap: wrap}
	if err := l.open(line); err != nil {
		return nil, err
	}
	return l, nil
}

func (l *Log) open(line func(Line) error) error {
	l.syncSlots, l.owner = make(chan struct{}, 1), l
	file, err := regular.OpenFile(l.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return l.wrapError(err)
	}
	l.disk = synced{file}
	if l.wrap != nil {
		l.disk = l.wrap(file)
	}
	s := logScan{lineReader: newLinewise(file)}
	for s.read() {
		if line == nil {
			continue
		}
		if s.err = line(Line{s.n, s.at, s.line}); s.err != nil {
			break
		}
	}
	if s.err == nil {
		s.err = l.repairTail(&s)
	} else {
		s.err = fmt.Errorf("%s: %w", l.path, s.err)
	}
	if s.err != nil {
		_ = l.disk.Close()
	}
	return s.err
}

func (l *Log) repairTail(s *logScan) (err error) {
	l.tail, l.lines = s.tail, s.count
	l.isNew = true // its creator may have been killed before the sync of its directory entry
	l.good, l.dropped, err = repairTail(l.disk, s.good, s.next, s.noNewline)
	l.size = l.good
	if err != nil {
		return l.wrapError(err)
	}
	return nil
}

// Dropped returns the length of the torn last line removed on open.
func (l *Log) Dropped() int { return l.dropped }

// Lines returns the number of lines, including those waiting to be written.
func (l *Log) Lines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines
}

// Append appends a line, a JSON object without line breaks, to which it adds the chain.
// It copies the object and returns the offset of the line. An error ends the log: nothing
// can be appended after it.
func (l *Log) Append(object []byte) (at int64, err error) {
	if n := len(object); n < 2 || object[0] != '{' || object[n-1] != '}' {
		return 0, errForm
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	g := l.pendingGroup()
	from := len(g.lines.b)
	g.lines.b = append(g.lines.b, object[:len(object)-1]...)
	sealed, tail := Seal(g.lines.b[from:], l.tail)
	g.lines.b = append(g.lines.b[:from], sealed...)
	at = l.size
	l.tail, l.size, l.lines = tail, l.size+int64(len(sealed)), l.lines+1
	l.startCommit()
	return at, nil
}

// Err returns the error that ended the log, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Sync returns when everything appended is durable.
func (l *Log) Sync() error {
	l.settle()
	return l.syncPending()
}

// Close syncs and closes the file.
func (l *Log) Close() error { return l.end() }

func (l *Log) syncNames() error { return regular.SyncDir(filepath.Dir(l.path)) }

func (l *Log) wrapError(err error) error { return cannotAppend(l.path, err) }

// ReadLog iterates over the lines of the log at path; each is valid until the next. The
// log may be in use. An error ends the iteration.
func ReadLog(path string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		file, err := regular.Open(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer file.Close()
		s := logScan{lineReader: newLinewise(file)}
		for s.read() {
			if !yield(Line{s.n, s.at, s.line}, nil) {
				return
			}
		}
		if s.err != nil {
			yield(Line{}, fmt.Errorf("%s: %w", path, s.err))
		}
	}
}

// Line is a line of a Log.
type Line struct {
	N    int    // from 1
	At   int64  // offset
	JSON []byte // without the newline
}

// logScan verifies the lines of a log.
type logScan struct {
	*lineReader
	line      []byte
	tail      Chain
	count     int
	good      int64 // length of the complete lines
	noNewline bool  // the last line lacks its newline
	err       error
}

// read returns true for each complete line; afterwards err says why it ended.
func (s *logScan) read() bool {
	line, ended, err := s.lineReader.read()
	if err != nil {
		if !errors.Is(err, io.EOF) {
			s.err = err
		}
		return false
	}
	next, ok := verify(line, s.tail)
	if !ok && !ended && torn(line, s.tail) {
		return false
	}
	if !ok {
		s.err = s.corrupt("the line is damaged, or lines before it are missing")
		return false
	}
	s.line, s.tail, s.good, s.noNewline = line, next, s.next, !ended
	s.count++
	return true
}
