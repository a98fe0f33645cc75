package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// Scope is what node code touches the world with. It belongs to one branch.
type Scope struct {
	b    *branch
	up   *Scope
	path string
	cut  error // every wait below ends with it
}

// Child is a scope with a longer path in the same branch; "" adds nothing to
// the path, and the child can be cut by itself.
func (s *Scope) Child(name string) *Scope {
	return &Scope{b: s.b, up: s, path: join(s.path, name)}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	if name == "" {
		return path
	}
	return path + "/" + name
}

// Path is the scope's effect path: "" at the top.
func (s *Scope) Path() string { return s.path }

// Now is the active time of the run at the last delivered record.
func (s *Scope) Now() time.Duration { return s.b.run.now }

// Start is the wall time of the run's start, in whatever session that was.
func (s *Scope) Start() time.Time { return s.b.run.began }

// ID is an id derived from run, path and name: the same on every re-run.
func (s *Scope) ID(name string) string {
	sum := sha256.Sum256([]byte(s.b.run.o.RunID + "\x00" + s.path + "\x00" + name))
	return hex.EncodeToString(sum[:16])
}

// Context carries the caller's values and ends with the session.
func (s *Scope) Context() context.Context { return s.b.run.ctx }

// Replaying says that the code runs on what earlier sessions recorded.
func (s *Scope) Replaying() bool { return s.b.run.pos < len(s.b.run.replay) }

// Emit has f called once the records so far are durable: in the order of the
// Emit calls, never two at once. While replaying f is dropped, for the earlier
// session called it; after a crash the last few may be called again.
func (s *Scope) Emit(f func()) {
	if r := s.b.run; !r.over && !s.Replaying() {
		r.emits = append(r.emits, f)
	}
}

// intent is what an effect's intent record holds.
type intent struct {
	digest   [32]byte
	request  func() []byte
	recorded func([]byte)
}

// issue journals an intent, or finds it in the journal.
func (s *Scope) issue(e *effect, name string, in intent) {
	r := s.running()
	e.key = r.o.RunID + "/" + join(s.path, name)
	e.path = e.key[len(r.o.RunID)+1:]
	if _, twice := r.seen[e.path]; twice {
		panic("path used twice: " + e.path)
	}
	r.seen[e.path] = struct{}{}
	r.issued++
	e.run, e.b, e.scope, e.issue = r, s.b, s, r.issued
	e.due = r.now + e.delay
	if s.Replaying() {
		r.match(e, in)
		r.recorded[e.path] = e
	} else {
		rec := journal.Record{Kind: journal.Intent, Class: e.class, Attempt: 1, Path: e.path, Digest: in.digest}
		if in.request != nil {
			rec.Body = in.request()
		}
		e.attempt, e.request = 1, rec.Body
		r.add(rec)
		if e.class != journal.Question {
			r.queued = append(r.queued, e)
		}
	}
	if e.class == journal.Question {
		r.questions = append(r.questions, e)
	}
	r.open.push(e)
}

// running is the run, of which this scope's branch must be the one that runs.
func (s *Scope) running() *run {
	r := s.b.run
	if r.over {
		panic(stopped{}) // an effect in a defer while the session ends
	}
	if r.cur != s.b {
		panic("scope used outside its branch: " + s.path)
	}
	return r
}
