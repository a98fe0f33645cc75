package journal

import (
	"fmt"
)

// pooledRun is the journal of one run in a Pool.
type pooledRun struct {
	pool  *Pool
	id    string
	head  []byte // start of its lines
	tail  Chain
	seq   uint64 // of the last record
	spans []span // of the file, in order; guarded by the pool's mu
	ended bool
}

// span is a part of a file: adjacent lines of one run.
type span struct {
	at   int64
	size int
}

var _ Journal = (*pooledRun)(nil)

func newPooled(p *Pool, run string) *pooledRun {
	return &pooledRun{pool: p, id: run, head: append(append([]byte(runMark), run...), '"')}
}

// A line of a pool is {"run":"id","v":1,... with the chain of the line without its run.
const runMark = `{"run":"`

// maxPooledID is the maximum length of a run id in a pool.
const maxPooledID = 200

// pooledID requires characters that need no escaping in JSON.
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

// cutRun splits a line of a pool into its run and the line of the run's own journal; ok
// is false if it has no run. It modifies the line.
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

// Append encodes one tick on the caller's goroutine. Its write is shared with other
// appends.
func (r *pooledRun) Append(recs []Record) (*Ticket, error) {
	l := newLines()
	defer l.release()
	b, tail, durable := l.b, r.tail, false
	for i := range recs {
		b = append(b, r.head...)
		at := len(b)
		var err error
		if b, tail, err = AppendLine(b, &recs[i], tail); err != nil {
			return nil, err
		}
		b[at] = ',' // the run is before it
		durable = durable || recs[i].syncs()
	}
	l.b = b
	t, err := r.pool.append(r, b, durable && r.pool.o.Durability != Async)
	if err != nil {
		return nil, err
	}
	r.tail = tail
	r.seq += uint64(len(recs))
	return t, nil
}

func (p *Pool) append(r *pooledRun, b []byte, durable bool) (*Ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	r.addSpan(p.size, len(b))
	p.size += int64(len(b))
	if !durable && p.idle() {
		err := p.writeNow(b)
		if err == nil {
			p.scheduleSync()
		}
		return nil, err
	}
	g := p.pendingGroup()
	g.lines.b = append(g.lines.b, b...)
	return p.commitSoon(durable), nil
}

// addSpan records where lines of the run are.
func (r *pooledRun) addSpan(at int64, size int) {
	if n := len(r.spans); n > 0 && r.spans[n-1].at+int64(r.spans[n-1].size) == at {
		r.spans[n-1].size += size
		return
	}
	r.spans = append(r.spans, span{at, size})
}

// Load returns the records so far.
func (r *pooledRun) Load() ([]Record, error) {
	p := r.pool
	p.settle()
	p.mu.Lock()
	pieces, err := r.spans, p.err
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
