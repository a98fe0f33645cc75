package journal

import (
	"fmt"
)

// pooled is the journal of one run in a Pool.
type pooled struct {
	pool   *Pool
	id     string
	head   []byte // of its lines
	tail   Chain
	seq    uint64  // of the last record
	pieces []piece // of the file, in order; guarded by the pool
	ended  bool
}

// piece is whole lines of one run that stand side by side.
type piece struct {
	at   int64
	size int
}

var _ Journal = (*pooled)(nil)

func newPooled(p *Pool, run string) *pooled {
	return &pooled{pool: p, id: run, head: append(append([]byte(runMark), run...), '"')}
}

// A line of a pool is {"run":"id","v":1,... with the chain that the line has
// without its run.
const runMark = `{"run":"`

// maxPooledID bounds the ids of runs in a pool.
const maxPooledID = 200

// pooledID holds ids to what stands in JSON as it is.
func pooledID(run []byte) bool {
	for _, c := range run {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_' || c == '.' || c == '-' || c == '~':
		default:
			return false
		}
	}
	return len(run) > 0 && len(run) <= maxPooledID
}

// cutRun parts a line of a pool from its run; ok is false where it has none. It
// overwrites the line: what is left of it is that of a journal.
func cutRun(line []byte) (run, rest []byte, ok bool) {
	if len(line) < len(runMark) || string(line[:len(runMark)]) != runMark {
		return nil, nil, false
	}
	rest = line[len(runMark):]
	for n, c := range rest {
		if c != '"' {
			continue
		}
		run, rest = rest[:n:n], rest[n+1:]
		if !pooledID(run) || len(rest) == 0 || rest[0] != ',' {
			return nil, nil, false
		}
		rest[0] = '{'
		return run, rest, true
	}
	return nil, nil, false
}

// Append encodes one tick on the caller's goroutine; its write is shared with
// whatever else waits for one.
func (r *pooled) Append(recs []Record) (*Ticket, error) {
	l := newLines()
	defer l.done()
	b, tail, durable := l.b, r.tail, r.pool.o.Durability != Async
	for i := range recs {
		b = append(b, r.head...)
		at := len(b)
		var err error
		if b, tail, err = AppendLine(b, &recs[i], tail); err != nil {
			return nil, err
		}
		b[at] = ',' // for the run stands before it
		durable = durable || awaited(&recs[i])
	}
	l.b = b
	t, err := r.pool.append(r, b, durable)
	if err != nil {
		return nil, err
	}
	r.tail = tail
	r.seq += uint64(len(recs))
	return t, nil
}

// awaited says that something is done only once the record is durable.
func awaited(r *Record) bool {
	return r.Kind == Intent && (r.Class == Write || r.Class == Question)
}

func (p *Pool) append(r *pooled, b []byte, durable bool) (*Ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	g := p.waiting()
	g.lines.b = append(g.lines.b, b...)
	r.keep(p.size, len(b))
	p.size += int64(len(b))
	return p.begin(durable), nil
}

// keep notes where lines of the run are.
func (r *pooled) keep(at int64, size int) {
	if n := len(r.pieces); n > 0 && r.pieces[n-1].at+int64(r.pieces[n-1].size) == at {
		r.pieces[n-1].size += size
		return
	}
	r.pieces = append(r.pieces, piece{at, size})
}

// Load gives the records so far.
func (r *pooled) Load() ([]Record, error) {
	p := r.pool
	p.settle()
	p.mu.Lock()
	pieces, err := r.pieces, p.err
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var recs []Record
	tail := Chain{}
	for _, piece := range pieces {
		b := make([]byte, piece.size)
		if _, err := p.file.ReadAt(b, piece.at); err != nil {
			return nil, fmt.Errorf("read journal %s: %w", p.path, err)
		}
		for len(b) > 0 {
			var rec Record
			if rec, b, tail, err = firstRecord(b, uint64(len(recs)+1), tail); err != nil {
				return nil, fmt.Errorf("%s: run %s: %w", p.path, r.id, err)
			}
			recs = append(recs, rec)
		}
	}
	return recs, nil
}
