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
func (s *Scope) ID(name string) string { return ID(s.b.run.o.RunID, s.path, name) }

// ID returns what Scope.ID returns for a name at an effect path of a run.
func ID(run, path, name string) string {
	sum := sha256.Sum256([]byte(run + "\x00" + path + "\x00" + name))
	return hex.EncodeToString(sum[:16])
}

// Context carries the caller's values and ends with the session.
func (s *Scope) Context() context.Context { return s.b.run.ctx }

// Replaying says that the code runs on what earlier sessions recorded.
func (s *Scope) Replaying() bool { return s.b.run.pos < len(s.b.run.replay) }

// Omits says that the rest of the journal has no effect below a name: the code
// that wrote it, an earlier version, made none there. It is false where the
// journal is at its end: then nobody knows yet.
func (s *Scope) Omits(name string) bool {
	r, below := s.b.run, join(s.path, name)+"/"
	goesOn := false
	for i := r.pos; i < len(r.replay); i++ {
		rec := &r.replay[i]
		if rec.Kind == journal.Intent && strings.HasPrefix(rec.Path, below) {
			return false
		}
		goesOn = goesOn || rec.Kind == journal.Intent || rec.Kind == journal.End
	}
	return goesOn
}

// Next says that the journal goes on with the request of an effect of a name.
func (s *Scope) Next(name string) bool {
	r := s.b.run
	return s.Replaying() && r.replay[r.pos].Kind == journal.Intent && r.replay[r.pos].Path == join(s.path, name)
}

// Emit has f called once the records so far are durable: in the order of the
// Emit calls, never two at once. While replaying f is dropped, for the earlier
// session called it; after a crash the last few may be called again, or never.
// With Options.Tell it is called at once then.
func (s *Scope) Emit(f func()) {
	r := s.b.run
	switch {
	case r.over:
	case !s.Replaying() && r.o.More == nil:
		r.emits = append(r.emits, f)
	case r.o.Tell:
		f()
	}
}

// intent is what an effect's intent record holds.
type intent struct {
	digest  [32]byte
	request func() []byte
	reread  func([]byte)
	drifted func() bool
}

// issue journals an intent, or finds it in the journal.
func (s *Scope) issue(e *effect, name string, in intent) {
	s.running().enter(s, e, join(s.path, name), in)
}

// enter does what issue does, whether or not a branch runs: a timer is set again
// between the turns of branches.
func (r *run) enter(s *Scope, e *effect, path string, in intent) {
	key := r.o.RunID + "/" + path
	e.path = key[len(r.o.RunID)+1:]
	e.key = cmp.Or(e.key, key)
	if _, twice := r.seen[e.path]; twice {
		panic("path used twice: " + e.path)
	}
	r.seen[e.path] = struct{}{}
	if r.o.More != nil && r.pos == len(r.replay) {
		if err := r.lookOn(); err != nil {
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
	r.intend(e, in)
}

// intend journals an intent; what Recorded does not answer is queued.
func (r *run) intend(e *effect, in intent) {
	failpoint.At(failpoint.IntentBefore)
	rec := journal.Record{Kind: journal.Intent, Class: e.class, Attempt: 1, Path: e.path, Digest: in.digest}
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
		r.queued = append(r.queued, e)
	}
}

// running is the run, of which this scope's branch must be the one that runs: an
// effect in a defer while the session ends panics too, for no branch runs then.
func (s *Scope) running() *run {
	r := s.b.run
	if r.cur != s.b {
		panic("scope used outside its branch: " + s.path)
	}
	return r
}
