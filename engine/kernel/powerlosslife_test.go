package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/disktest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// life is the sessions of a run from its start, or from a kill or a power loss, to its end.
type life struct {
	t          *testing.T
	dir        string
	scratch    string // for homes after a power loss
	durability journal.Durability
	shared     bool // the syncs, by a commit log
	rng        *rand.Rand
	agent      lossy
	start      string
	want       string // how the run ends if it is not cancelled
	killed     disktest.Image

	disk    *disktest.Disk // nil = the end of a run after a power loss
	answers map[string]json.RawMessage
	resolve map[string]string
	cancel  chan struct{}
	final   string
	label   string // of the point that is examined

	// Guarded by agent.w.mu.
	recs    []journal.Record
	tickets []pendingTicket
	durable int // records acknowledged as durable
	points  []point
}

// pendingTicket is the ticket of the records up to one that must survive.
type pendingTicket struct {
	ticket *journal.Ticket
	recs   int
}

// point is a moment in a life.
type point struct {
	image   disktest.Image
	world   *outside
	recs    []journal.Record // all that were appended
	durable int              // how many of them were acknowledged
}

// execute executes the rest of a run with pauses, and notes its points.
func (l *life) execute() {
	l.disk = disktest.Watch(l.t, l.dir)
	defer l.disk.Stop()
	if l.killed != nil {
		l.disk.Inherit(l.killed)
	}
	l.disk.OnSync = l.syncing
	w := l.agent.w
	w.changed = l.point
	w.at = map[int]func(){}
	for range l.rng.IntN(3) {
		w.at[w.calls+1+l.rng.IntN(12)] = nil // the session stops here
	}
	if l.rng.IntN(6) == 0 {
		l.cancel = make(chan struct{})
		w.at[w.calls+1+l.rng.IntN(12)] = func() { close(l.cancel) }
	}
	l.finish()
	l.point()
	w.changed = nil
}

// syncing notes a point during a sync, which takes some time. That of a directory does not:
// it runs under a lock, so the fake clock cannot advance.
func (l *life) syncing(path string) {
	l.point()
	if ext := filepath.Ext(path); ext == ".jsonl" || ext == ".a" {
		l.agent.w.pause()
	}
}

// openHome opens a home whose commit log has small segments.
func openHome(dir string, d journal.Durability, shared bool) (*journal.Home, error) {
	h, err := journal.OpenHome(dir, d)
	if err == nil && shared {
		h.ShareSyncs(8 << 10)
	}
	return h, err
}

// finish executes sessions until the run ends.
func (l *life) finish() {
	l.answers, l.resolve = map[string]json.RawMessage{}, map[string]string{}
	for n := 0; !l.session(); n++ {
		if n > 100 {
			l.t.Fatal("the run does not end")
		}
	}
}

// session executes one session and reports whether the run has ended.
func (l *life) session() (ended bool) {
	h, err := openHome(l.dir, l.durability, l.shared)
	if err != nil {
		l.t.Fatal(err)
	}
	f, err := openOrCreate(h, "r")
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(l.t.Context())
	defer stop()
	l.load(f)
	for n, called := range l.agent.w.at {
		if called == nil {
			l.agent.w.at[n] = stop
		}
	}
	state := ""
	_, err = kernel.Run(ctx, l.options(f), l.agent.program(&state))
	ended = l.take(state, err)
	f.SetHead(fmt.Appendf(nil, `{"ended":%v}`, ended))
	if err := f.Close(); err != nil {
		l.t.Fatal(err)
	}
	if l.durability != journal.Async {
		l.reported()
	}
	if err := h.Close(); err != nil {
		l.t.Fatal(err)
	}
	l.reported()
	return ended
}

func (l *life) options(f *journal.File) kernel.Options {
	o := kernel.Options{
		RunID: "r", Start: []byte(l.start), Journal: journaled{f, l},
		Answers: l.answers, Resolve: l.resolve, Grace: time.Duration(l.rng.IntN(2)*20) * time.Millisecond,
	}
	if l.cancel != nil {
		o.Cancel = l.cancel
	}
	if l.rng.IntN(2) == 0 {
		o.By = json.RawMessage(`{"user":"ann"}`)
	}
	if l.rng.IntN(4) == 0 {
		o.ChangeBody = func() []byte { return []byte(`{"max_steps":9}`) }
	}
	if l.rng.IntN(2) == 0 {
		o.Ask = func(_ context.Context, path string, _ []byte) (kernel.Given, error) {
			return kernel.Given{Body: answerTo(path)}, nil
		}
	}
	return o
}

func answerTo(path string) json.RawMessage {
	b, _ := json.Marshal("answer to " + path)
	return b
}

// take takes what a session reports, and decides what it asks.
func (l *life) take(state string, err error) (ended bool) {
	var parked *kernel.Parked
	var review *kernel.NeedsReview
	w := l.agent.w
	switch {
	case errors.As(err, &parked):
		for _, q := range parked.Questions {
			l.answers[q.Path] = answerTo(q.Path)
		}
	case errors.As(err, &review):
		for _, open := range review.Writes {
			l.resolve[open.Path] = ""
		}
	case errors.Is(err, kernel.ErrSuspended):
	case err == nil:
		l.final = state
		ended = true
	case cut(err):
		l.final = kernel.ErrCancelled.Error()
		ended = true
	default:
		l.t.Fatal(err)
	}
	for path := range l.resolve { // earlier decisions may be about an earlier attempt
		l.resolve[path] = w.decision(path)
	}
	if l.durability == journal.Sync {
		l.reported()
	}
	return ended
}

// reported notes that what a session reports must survive.
func (l *life) reported() {
	w := l.agent.w
	w.mu.Lock()
	for n := len(l.recs); n > l.durable; n-- {
		if mustSurvive(&l.recs[n-1]) {
			l.durable = n
		}
	}
	w.mu.Unlock()
	l.point()
}

// load notes the records of earlier sessions.
func (l *life) load(f *journal.File) {
	recs, err := f.Load()
	if err != nil {
		l.t.Fatal(err)
	}
	w := l.agent.w
	w.mu.Lock()
	defer w.mu.Unlock()
	l.recs, l.tickets = slices.Clip(recs), nil
}

// journaled is the journal of a session that notes what is appended.
type journaled struct {
	*journal.File
	l *life
}

func (j journaled) Append(rs []journal.Record) (*journal.Ticket, error) {
	l, w := j.l, j.l.agent.w
	l.point()
	w.mu.Lock()
	must := 0
	for i := range rs {
		r := rs[i]
		r.Body = append([]byte(nil), r.Body...)
		if l.recs = append(l.recs, r); mustSurvive(&r) {
			must = len(l.recs)
		}
	}
	w.mu.Unlock()
	t, err := j.File.Append(rs)
	if must > 0 && l.durability == journal.Sync {
		if t == nil && err == nil {
			l.t.Errorf("record %d is not synced", must)
		}
		w.mu.Lock()
		l.tickets = append(l.tickets, pendingTicket{t, must})
		w.mu.Unlock()
	}
	l.point()
	return t, err
}

// point notes a point, unless nothing has changed since the last one.
func (l *life) point() {
	if l.disk == nil {
		return
	}
	w := l.agent.w
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(l.tickets) > 0 && l.tickets[0].ticket.Ready() {
		l.durable = max(l.durable, l.tickets[0].recs)
		l.tickets = l.tickets[1:]
	}
	p := point{world: w.clone(), recs: slices.Clip(l.recs), durable: l.durable}
	p.image = l.disk.Image() // after the world: it may have more than the world knows of, but no less
	if n := len(l.points); n == 0 || !p.same(&l.points[n-1]) {
		l.points = append(l.points, p)
	}
}

// ended returns the first point at which the run has ended.
func (l *life) ended() int {
	for i := range l.points {
		if recs := l.points[i].recs; len(recs) > 0 && recs[len(recs)-1].Kind == journal.End {
			return i
		}
	}
	return len(l.points) - 1
}

// same reports whether nothing has changed between two points.
func (p *point) same(o *point) bool {
	return p.durable == o.durable && len(p.world.acked) == len(o.world.acked) && len(p.world.performed) == len(o.world.performed) &&
		p.image.Equal(o.image, disktest.Durable) && p.image.Equal(o.image, disktest.Written)
}

// sameAfterLoss reports whether a loss of all that is not synced gives the same at both.
func (p *point) sameAfterLoss(o *point) bool {
	return p.durable == o.durable && len(p.world.acked) == len(o.world.acked) && len(p.world.performed) == len(o.world.performed) &&
		p.image.Equal(o.image, onlySynced)
}

// after returns the life of the run after its process was killed at a point, or after a
// power loss.
func (l *life) after(p *point) *life {
	dir, err := os.MkdirTemp(filepath.Dir(l.dir), "home-")
	if err != nil {
		l.t.Fatal(err)
	}
	n := &life{
		t: l.t, dir: dir, scratch: l.scratch, durability: l.durability, shared: l.shared, rng: l.rng, start: l.start, want: l.want,
		agent: lossy{p.world.clone(), l.agent.steps}, recs: p.recs, durable: p.durable,
	}
	keep := disktest.Choice(disktest.Written)
	if l.rng.IntN(2) == 0 && l.durability == journal.Sync {
		keep = l.partlySynced()
	} else {
		n.killed = p.image
	}
	if err := p.image.Write(dir, keep); err != nil {
		l.t.Fatal(err)
	}
	return n
}

// reference returns how the run ends if nothing happens to it.
func (l *life) reference() string {
	dir, err := os.MkdirTemp(l.scratch, "")
	if err != nil {
		l.t.Fatal(err)
	}
	r := &life{t: l.t, dir: dir, durability: journal.Sync, rng: l.rng, start: l.start, agent: lossy{newOutside(l.t, 0, false), l.agent.steps}}
	r.finish()
	return r.final
}
