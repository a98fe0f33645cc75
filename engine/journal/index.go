package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/pexctl/pex/engine/regular"
)

// indexName is the file in the folder of the runs to which all sessions append heads. It
// is not a valid run id.
const indexName = "_index"

// index is the append-only file with the heads of all runs of a home. The last one of a
// run counts; one with sequence number 0 is that of a removed run. Appends are not
// synced: after a power loss, the file may lack its end, but it never claims more than
// was durable. So a missing or damaged line only means that less damage is detected and
// that the run's summary is computed from its journal.
//
// Each line starts with its newline, so that a line that was cut short damages only
// itself.
type index struct {
	path string

	mu  sync.Mutex // guards the fields below
	out *os.File   // for appending, opened for the first line
	in  *os.File   // for reading, opened for the first head

	read  fs.FileInfo     // identifies in
	size  int64           // how far
	last  tail            // the end of what was read
	lines map[string]span // place of the last line of each run
	known map[string]knownHead
}

// tail is the end of what was read of a file.
type tail struct {
	at   int64
	text []byte
}

// maxTail is the length of a tail; it includes the chain of the last head.
const maxTail = 1024

// isIn reports whether a file has the same text at the same place. Another file may have
// the identity of one that was removed.
func (t *tail) isIn(file *os.File) bool {
	b := make([]byte, len(t.text))
	_, err := file.ReadAt(b, t.at)
	return err == nil && bytes.Equal(b, t.text)
}

// knownHead is a head that heads has returned.
type knownHead struct {
	at   int64
	head *Head
}

// append appends the line of a head, encoded by Head.encode.
func (x *index) append(line []byte, sync bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.openForAppend(); err != nil {
		return err
	}
	line = append([]byte{'\n'}, bytes.TrimSuffix(line, []byte{'\n'})...)
	_, err := x.out.Write(line)
	if err == nil && sync {
		err = regular.Sync(x.out)
	}
	return Full(err)
}

// hold opens the index for appending, which keeps other processes from compacting it.
func (x *index) hold() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.openForAppend()
}

// openForAppend opens the index for appending. The caller holds mu.
func (x *index) openForAppend() error {
	if x.out != nil {
		return nil
	}
	out, err := openShared(x.path)
	if err != nil {
		return Full(err)
	}
	x.out = out
	return nil
}

// length returns the length of the index that is held open.
func (x *index) length() (uint64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.openForAppend(); err != nil {
		return 0, err
	}
	info, err := x.out.Stat()
	if err != nil {
		return 0, err
	}
	return uint64(info.Size()), nil
}

// close closes the files; they are opened again when they are needed.
func (x *index) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.out != nil {
		_ = x.out.Close() // was written with a single call per line
		x.out = nil
	}
	x.closeIn()
}

// head returns the last head of a run and its line. The error wraps fs.ErrNotExist if
// there is none, ErrCorrupt if it is damaged, and ErrNewer.
func (x *index) head(run string) (*Head, []byte, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	file, err := x.refresh()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", indexName, err)
	}
	s, found := x.lines[run]
	if !found {
		return nil, nil, fs.ErrNotExist
	}
	line := make([]byte, s.size, s.size+1)
	if _, err := file.ReadAt(line, s.at); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", indexName, err)
	}
	line = append(line, '\n')
	head, err := parseHead(x.path, run, line)
	if err == nil && head.Seq == 0 {
		return nil, nil, fs.ErrNotExist
	}
	return head, line, err
}

// heads returns the last heads of runs. It reads each head once.
func (x *index) heads(runs []string) map[string]*Head {
	x.mu.Lock()
	defer x.mu.Unlock()
	file, err := x.refresh()
	if err != nil {
		return nil
	}
	if x.known == nil {
		x.known = map[string]knownHead{}
	}
	var line []byte
	out := make(map[string]*Head, len(runs))
	for _, run := range runs {
		s, found := x.lines[run]
		if !found {
			continue
		}
		k, ok := x.known[run]
		if !ok || k.at != s.at {
			line = slices.Grow(line[:0], s.size+1)[:s.size]
			if _, err := file.ReadAt(line, s.at); err != nil {
				continue
			}
			head, err := parseHead(x.path, run, append(line, '\n'))
			if err != nil || head.Seq == 0 {
				continue
			}
			k = knownHead{s.at, head}
			x.known[run] = k
		}
		out[run] = k.head
	}
	return out
}

// marks returns the position of the last head of each run that has one. It does not verify
// the heads. An unreadable index has none.
func (x *index) marks() map[string]int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	_, err := x.refresh()
	if err != nil {
		return nil
	}
	out := make(map[string]int64, len(x.lines))
	for run, s := range x.lines {
		out[run] = s.at
	}
	return out
}

// refresh reads what was appended since the last time. The caller holds mu and must not
// close the file.
func (x *index) refresh() (*os.File, error) {
	info, err := os.Stat(x.path)
	if err != nil {
		return nil, err
	}
	if x.in == nil || !os.SameFile(x.read, info) {
		if info, err = x.reopen(); err != nil {
			return nil, err
		}
	}
	if info.Size() < x.size || !x.last.isIn(x.in) { // compacted, or another file
		x.size, x.last, x.lines, x.known = 0, tail{}, map[string]span{}, nil
	}
	if info.Size() > x.size {
		b := make([]byte, info.Size()-x.size)
		n, err := x.in.ReadAt(b, x.size)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if n > 0 {
			end := b[max(0, n-maxTail):n]
			x.last = tail{x.size + int64(n-len(end)), bytes.Clone(end)}
		}
		x.scan(b[:n])
	}
	return x.in, nil
}

// reopen opens the file for reading.
func (x *index) reopen() (fs.FileInfo, error) {
	x.closeIn()
	file, err := regular.Open(x.path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	if x.read == nil || !os.SameFile(x.read, info) {
		x.size, x.last, x.lines, x.known = 0, tail{}, map[string]span{}, nil
	}
	x.in, x.read = file, info
	return info, nil
}

func (x *index) closeIn() {
	if x.in != nil {
		x.in.Close()
		x.in = nil
	}
}

// scan notes the lines of b, the file's content from size on. The last line may still be
// being written, so the next scan begins with it.
func (x *index) scan(b []byte) {
	at := x.size
	for len(b) > 0 {
		line := b // with the newline before it
		if end := bytes.IndexByte(b[1:], '\n'); end >= 0 {
			line = b[:end+1]
			x.size = at + int64(len(line))
		}
		text := bytes.TrimPrefix(line, []byte{'\n'})
		if run, removed := lineRun(text); removed {
			delete(x.lines, string(run))
			delete(x.known, string(run))
		} else if run != nil {
			x.lines[string(run)] = span{at + int64(len(line)-len(text)), len(text)}
		}
		at, b = at+int64(len(line)), b[len(line):]
	}
}

// lineRun returns the run of a line without verifying it, and whether the run was
// removed. The beginning of a line is the same in all versions of the format.
func lineRun(line []byte) (run []byte, removed bool) {
	_, rest, found := bytes.Cut(line, []byte(`,"run_id":"`))
	run, rest, ended := bytes.Cut(rest, []byte(`","seq":`))
	if !found || !ended || !bytes.HasPrefix(line, []byte(`{"v":`)) {
		return nil, false
	}
	return run, bytes.HasPrefix(rest, []byte("0,"))
}

// maxDead is how many bytes of outdated lines the index may have before a removal compacts
// it.
const maxDead = 1 << 20

// needless returns the bytes of outdated lines, and whether there are others.
func (x *index) needless() (dead int64, live bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	dead = x.size
	for _, s := range x.lines {
		dead -= int64(s.size) + 1
	}
	return dead, len(x.lines) > 0
}

// compact rewrites the file with only the last line of each run, if no other process
// uses it, and returns how many bytes that freed. It removes an index without a run.
// Commit logs refer to places in the index, so it is not compacted while there are any.
func (x *index) compact(dryRun bool) (freed int64, err error) {
	if x.hasLogs() {
		return 0, nil
	}
	x.close()
	x.mu.Lock()
	defer x.mu.Unlock()
	lock, err := lockExclusive(x.path)
	if lock == nil || err != nil {
		return 0, err
	}
	defer lock.Close()
	if x.hasLogs() { // a process that opens one locks the index before
		return 0, nil
	}
	file, err := x.refresh()
	if err != nil {
		return 0, err
	}
	var kept []byte
	for _, s := range slices.SortedFunc(maps.Values(x.lines), func(a, b span) int { return cmp.Compare(a.at, b.at) }) {
		line := make([]byte, 1+s.size)
		line[0] = '\n'
		if _, err := file.ReadAt(line[1:], s.at); err != nil {
			return 0, err
		}
		kept = append(kept, line...)
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	freed = info.Size() - int64(len(kept))
	switch {
	case freed == 0 || dryRun:
		return freed, nil
	case len(kept) == 0:
		return freed, os.Remove(x.path)
	}
	return freed, replaceFile(x.path, kept, true)
}

// replaceFile writes a temporary file and renames it.
func replaceFile(path string, b []byte, sync bool) error {
	temp := path + newSuffix
	f, err := regular.OpenFile(temp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return Full(err)
	}
	_, err = f.Write(b)
	if err == nil && sync {
		err = regular.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return Full(err)
}

// newSuffix is the suffix of the temporary file.
const newSuffix = ".new"

// resets returns the place of the last line of each run that says that it was removed, or
// replaced.
func (x *index) resets() (map[string]uint64, error) {
	b, err := regular.ReadFile(x.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out := map[string]uint64{}
	at := 0
	for line := range bytes.Lines(b) {
		if run, removed := lineRun(line); removed {
			whole := append(bytes.TrimSuffix(line, []byte{'\n'}), '\n') // the last one has none
			if _, err := parseHead(x.path, string(run), whole); err == nil {
				out[string(run)] = uint64(at)
			}
		}
		at += len(line)
	}
	return out, err
}
