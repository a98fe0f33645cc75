package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// Scope gives node code access to effects. It belongs to one branch.
type Scope struct {
	b    *branch
	up   *Scope
	name string
	path string // built when first asked for
	cut  error  // ends every wait below
}

// Child returns a scope with a longer path in the same branch. With "" the path stays the
// same, but the child can be cut separately.
func (s *Scope) Child(name string) *Scope {
	c := new(Scope)
	s.InitChild(c, name)
	return c
}

// InitChild makes c, a zero Scope, the child of s: Child for a Scope within another struct.
func (s *Scope) InitChild(c *Scope, name string) { c.b, c.up, c.name = s.b, s, name }

func join(path, name string) string {
	if path == "" {
		return name
	}
	if name == "" {
		return path
	}
	return path + "/" + name
}

// Path returns the scope's effect path; "" at the top.
func (s *Scope) Path() string {
	if s.path == "" && s.up != nil {
		var buf [128]byte
		s.path = string(s.appendPath(buf[:0], ""))
	}
	return s.path
}

// appendPath appends the path of name below s to b.
func (s *Scope) appendPath(b []byte, name string) []byte {
	from := len(b)
	if s.path != "" {
		b = append(b, s.path...)
	} else if s.up != nil {
		b = s.up.appendPath(b, s.name)
	}
	if name == "" {
		return b
	}
	if len(b) > from {
		b = append(b, '/')
	}
	return append(b, name...)
}

// Now returns the active time of the run at the last delivered record.
func (s *Scope) Now() time.Duration { return s.b.run.now }

// Since returns the time since the start of the run, for display: Now and the time without a
// session, as far as the journal shows it. The journal has the wall time of decisions only.
func (s *Scope) Since() time.Duration { return s.b.run.now + s.b.run.inactive }

// Start returns the wall time of the run's start, in whichever session that was.
func (s *Scope) Start() time.Time { return s.b.run.startedAt }

// ID returns an id derived from run, path and name: the same in every replay.
func (s *Scope) ID(name string) string { return ID(s.b.run.o.RunID, s.Path(), name) }

// ID returns what Scope.ID returns for a name at an effect path of a run.
func ID(run, path, name string) string {
	sum := sha256.Sum256([]byte(run + "\x00" + path + "\x00" + name))
	return hex.EncodeToString(sum[:16])
}

// Context returns a context that carries the caller's values and ends with the session.
func (s *Scope) Context() context.Context { return s.b.run.ctx }

// Replaying reports whether the code runs on recorded results.
func (s *Scope) Replaying() bool { return s.b.run.pos < len(s.b.run.replay) }

// Omits reports that the rest of the journal has no effect below name: the earlier
// version that wrote it issued none there. It returns false at the end of the journal,
// where this is not known yet.
func (s *Scope) Omits(name string) bool {
	r := s.b.run
	if r.pos >= len(r.replay) {
		return false
	}
	below, goesOn := join(s.Path(), name)+"/", false
	for i := r.pos; i < len(r.replay); i++ {
		rec := &r.replay[i]
		if rec.Kind == journal.Intent && strings.HasPrefix(rec.Path, below) {
			return false
		}
		goesOn = goesOn || rec.Kind == journal.Intent || rec.Kind == journal.End
	}
	return goesOn
}

// Next reports whether the next record of the journal is the intent of the named effect.
func (s *Scope) Next(name string) bool {
	r := s.b.run
	return s.Replaying() && r.replay[r.pos].Kind == journal.Intent && r.replay[r.pos].Path == join(s.Path(), name)
}

// Emit calls f once the records so far are durable: in the order of the Emit calls, never
// concurrently. In a replay f is dropped, since an earlier session called it; after a
// crash the last few may be called twice or never. With Options.EmitOnReplay a replay
// calls f at once.
func (s *Scope) Emit(f func()) {
	r := s.b.run
	switch {
	case r.closed:
	case !s.Replaying() && r.o.Follow == nil:
		r.emits = append(r.emits, f)
	case r.o.EmitOnReplay:
		f()
	}
}

// intent is the content of an effect's intent record.
type intent struct {
	digest      journal.Digest
	request     func() []byte
	onReplay    func([]byte)
	acceptDrift func() bool
}

// issue journals an intent, or matches it with the journal.
func (s *Scope) issue(e *effect, name string, in intent) {
	s.activeRun().register(s, e, name, in)
}

// register is issue without the check for a running branch: timers are extended between
// turns of branches.
func (r *run) register(s *Scope, e *effect, name string, in intent) {
	r.keyBuf = append(append(r.keyBuf[:0], r.o.RunID...), '/')
	r.keyBuf = s.appendPath(r.keyBuf, name)
	key := string(r.keyBuf)
	e.path = key[len(r.o.RunID)+1:]
	e.key = cmp.Or(e.key, key)
	if _, twice := r.paths[e.path]; twice {
		panic("path used twice: " + e.path)
	}
	r.paths[e.path] = struct{}{}
	if r.o.Follow != nil && r.pos == len(r.replay) {
		if err := r.tail(); err != nil {
			r.fail(err)
		}
	}
	r.issued++
	e.run, e.b, e.scope, e.issue = r, s.b, s, r.issued
	e.due = r.now + e.delay
	if e.class == journal.Question {
		r.questions = append(r.questions, e)
	}
	r.open.push(e)
	if r.pos < len(r.replay) {
		r.match(e, in)
		r.recorded[e.path] = e
		return
	}
	r.journalIntent(e, in)
}

// journalIntent journals an intent, and queues the effect unless Recorded has its
// outcome.
func (r *run) journalIntent(e *effect, in intent) {
	failpoint.At(failpoint.IntentBefore)
	rec := journal.Record{Kind: journal.Intent, Class: e.class, Attempt: 1, Path: e.path, Digest: in.digest, Sync: e.once}
	if in.request != nil {
		rec.Body, rec.Encoded = in.request(), true
	}
	e.attempt, e.request, e.digest = 1, rec.Body, in.digest
	r.add(rec)
	failpoint.At(failpoint.IntentAfter)
	found, err := r.find(e)
	if err != nil {
		r.fail(err)
	}
	if !found && e.class != journal.Question {
		r.toStart = append(r.toStart, e)
	}
}

// activeRun returns the run. It panics unless the scope's branch is running, so an effect
// in a deferred function also panics while the session ends.
func (s *Scope) activeRun() *run {
	r := s.b.run
	if r.cur != s.b {
		panic("scope used outside its branch: " + s.Path())
	}
	return r
}
