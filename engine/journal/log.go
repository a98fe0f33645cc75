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

// Log is an append-only, JSON Lines file of one kind of thing, tied together
// by the chain of a journal: a damaged or missing line is found and named. What
// is appended is written at once and synced within a moment; appends share
// writes and syncs. It locks nothing: whoever opens it holds a lock of their own.
type Log struct {
	appender
	path    string
	tail    Chain
	lines   int
	size    int64 // of what was appended, also what waits for its write
	dropped int

	wrap func(disk) disk // tests put failing disks here
}

// OpenLog opens the log at path, making it if need be, and shows each line that
// it holds to line, good for that call. A torn last line is dropped; the error
// wraps ErrCorrupt and names the line when any other is damaged. The caller
// closes the Log.
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
	l.lanes, l.owner = make(chan struct{}, 1), l
	file, err := regular.OpenFile(l.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return l.cannot(err)
	}
	l.disk = synced{file}
	if l.wrap != nil {
		l.disk = l.wrap(file)
	}
	s := logScan{linewise: newLinewise(file)}
	for s.read() {
		if line == nil {
			continue
		}
		if s.err = line(Line{s.n, s.at, s.line}); s.err != nil {
			break
		}
	}
	if s.err == nil {
		s.err = l.mend(&s)
	} else {
		s.err = fmt.Errorf("%s: %w", l.path, s.err)
	}
	if s.err != nil {
		_ = l.disk.Close()
	}
	return s.err
}

func (l *Log) mend(s *logScan) (err error) {
	l.tail, l.lines = s.tail, s.count
	l.good, l.made, l.dropped, err = mend(l.disk, s.good, s.next, s.unended)
	l.size = l.good
	if err != nil {
		return l.cannot(err)
	}
	return nil
}

// Dropped is the length of the torn last line that was cut off.
func (l *Log) Dropped() int { return l.dropped }

// Lines is how many lines there are, with those that wait for their write.
func (l *Log) Lines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines
}

// Append adds a line: a JSON object in one line, which gets one field more, its
// chain. It copies the object, and returns where the line begins. An error ends
// the log: nothing is appended behind a hole.
func (l *Log) Append(object []byte) (at int64, err error) {
	if n := len(object); n < 2 || object[0] != '{' || object[n-1] != '}' {
		return 0, errForm
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	g := l.waiting()
	from := len(g.lines.b)
	g.lines.b = append(g.lines.b, object[:len(object)-1]...)
	sealed, tail := Seal(g.lines.b[from:], l.tail)
	g.lines.b = append(g.lines.b[:from], sealed...)
	at = l.size
	l.tail, l.size, l.lines = tail, l.size+int64(len(sealed)), l.lines+1
	l.begin(false)
	return at, nil
}

// Err is what ended the log, or nil.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Sync returns when all that was appended is durable.
func (l *Log) Sync() error {
	l.settle()
	return l.catchUp()
}

// Close is Sync, and closes the file.
func (l *Log) Close() error { return l.end() }

func (l *Log) syncNames() error { return regular.SyncDir(filepath.Dir(l.path)) }

func (l *Log) cannot(err error) error { return cannotAppend(l.path, err) }

// ReadLog gives the lines of the log at path; each is good until the next one. A
// log that is being written may be read. An error ends it.
func ReadLog(path string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		file, err := regular.Open(path)
		if err != nil {
			yield(Line{}, err)
			return
		}
		defer file.Close()
		s := logScan{linewise: newLinewise(file)}
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

// Line is one line of a Log.
type Line struct {
	N    int    // from 1
	At   int64  // where it begins
	JSON []byte // without the newline
}

// logScan goes over a log and verifies every line.
type logScan struct {
	*linewise
	line    []byte
	tail    Chain
	count   int
	good    int64 // length of the whole lines
	unended bool  // the last of them lacks its newline
	err     error
}

// read is true for each whole line; at the end err says why.
func (s *logScan) read() bool {
	line, ended, err := s.linewise.read()
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
		s.err = s.damaged("the line is damaged, or lines before it are missing")
		return false
	}
	s.line, s.tail, s.good, s.unended = line, next, s.next, !ended
	s.count++
	return true
}
