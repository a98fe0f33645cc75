package journal

import (
	"bytes"
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

// reservedRun is the start of the ids of lines that are not those of a run.
const reservedRun = "~"

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
	tail, durable := r.tail, false
	for i := range recs {
		var err error
		if tail, err = r.encode(l, &recs[i], tail); err != nil {
			return nil, err
		}
		durable = durable || recs[i].syncs()
	}
	t, err := r.pool.append(r, l.b, durable && r.pool.o.Durability != Async)
	if err != nil {
		return nil, err
	}
	r.tail = tail
	r.seq += uint64(len(recs))
	return t, nil
}

// encode appends the line of a record to l. A request refers to texts that the pool
// already has.
func (r *pooledRun) encode(l *lineBuffer, rec *Record, tail Chain) (Chain, error) {
	v := uint64(version)
	if rec.Kind == Intent && rec.Encoded {
		body := newLines()
		defer body.release()
		b, ok, err := r.pool.texts.compact(body.b, rec.Body, r.pool)
		if err != nil {
			return tail, err
		}
		if ok {
			short := *rec
			short.Body, body.b = b, b
			rec, v = &short, sharedVersion
		}
	}
	b := append(l.b, r.head...)
	at := len(b)
	b, tail, err := appendLine(b, v, rec, tail)
	if err != nil {
		return tail, err
	}
	b[at] = ',' // the run is before it
	l.b = b
	return tail, nil
}

func (p *Pool) append(r *pooledRun, b []byte, durable bool) (*Ticket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, t, err := p.appendLines(b, durable)
	if err == nil {
		r.addSpan(at, len(b))
	}
	return t, err
}

// appendText appends the line of a text, which is durable no later than any line
// appended after it, and returns where it is.
func (p *Pool) appendText(b []byte) (at int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, _, err = p.appendLines(b, false)
	return at, err
}

// appendLines appends lines and returns where they are. The caller holds mu.
func (p *Pool) appendLines(b []byte, durable bool) (at int64, _ *Ticket, err error) {
	if p.err != nil {
		return 0, nil, p.err
	}
	at = p.size
	p.size += int64(len(b))
	if !durable && p.idle() {
		if err = p.writeNow(b); err == nil {
			p.scheduleSync()
		}
		return at, nil, err
	}
	g := p.pendingGroup()
	g.lines.b = append(g.lines.b, b...)
	return at, p.commitSoon(durable), nil
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
	p.mu.Lock()
	isNew, err := len(r.spans) == 0, p.err
	p.mu.Unlock()
	if isNew || err != nil {
		return nil, err
	}
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
			var line []byte
			line, b, _ = bytes.Cut(b, []byte{'\n'})
			rec, next, err := r.record(line, uint64(len(recs)+1), tail)
			if err != nil {
				return nil, fmt.Errorf("%s: run %s: %w", p.path, r.id, err)
			}
			recs, tail = append(recs, rec), next
		}
	}
	return recs, nil
}

// record reads a record of the run from its line.
func (r *pooledRun) record(line []byte, seq uint64, tail Chain) (Record, Chain, error) {
	_, line, ok := cutRun(line)
	if !ok {
		return Record{}, tail, ErrCorrupt
	}
	rec, next, err := readRecord(line, seq, tail, sharedVersion)
	if err == nil && hasReferences(line) {
		rec.Body, err = r.pool.texts.expand(rec.Body, r.pool.file)
	}
	return rec, next, err
}
