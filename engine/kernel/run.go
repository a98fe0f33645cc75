package kernel

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// run is one session. Only the branch that runs touches it, except for done.
type run struct {
	o      Options
	outer  context.Context // its end suspends the session
	ctx    context.Context // of effects: ends when the session is over
	keeps  bool            // the journal keeps Go values
	stats  Stats
	replay []journal.Record
	pos    int       // next record of replay
	seq    uint64    // of the last record
	began  time.Time // wall time of the run's start

	root  *branch
	top   *Scope
	cur   *branch // the one that runs
	ready queue
	conds []*condition // of Await, in the order of the calls
	fatal error        // ends the session
	over  bool         // the session has ended, branches are unwinding

	seen      map[string]struct{} // paths of all effects
	recorded  map[string]*effect  // open effects by path, while the journal is read
	open      effects             // in issue order
	queued    []*effect           // to be started when the tick is committed
	questions []*effect
	asking    *effect           // the question that is put in place
	reopened  bool              // open effects of earlier sessions are dealt with
	adopted   []*journal.Record // outcomes to be kept of what became void
	supplied  ranked            // effects that Recorded answers
	gaveUp    bool              // the run is cancelled: writes in doubt stay undecided
	cutWrites bool              // waits for writes were cut since withhold looked
	working   int               // started effects that a branch waits for
	timeouts  int               // started timers of Timeout
	yielding  []*effect         // of branches that yield, in the order in which they are resumed
	virtual   timetable
	issued    uint64

	now    time.Duration // active time of the last delivered record
	base   time.Duration // active time of earlier sessions
	clock0 time.Duration // what the clock showed when this one began

	tick   []journal.Record // to be appended by the next commit
	last   *journal.Ticket  // of the last commit
	fresh  bool             // records were added since the last marker
	emits  []func()         // of this tick
	untold []batch          // emits whose commit is under way

	taken []*effect // of done, and how many of them were looked at
	head  int
	mu    sync.Mutex
	done  []*effect // ended effects, in the order of their end
	notes []*note   // answers in the middle of effects, to be journaled
	wake  chan struct{}
}

// Run runs or resumes main, which gets the body of the start record: that of
// the options in the first session, the journal's in later ones. An error is
// main's own, or says why the session ended before main did: ErrSuspended,
// *Parked, *NeedsReview, *Drift, *PanicError, *StoreError. Run may be called
// many times at once, with a journal each.
func Run(ctx context.Context, o Options, main func(s *Scope, start []byte) error) (Stats, error) {
	if err := o.complete(); err != nil {
		return Stats{}, err
	}
	if ctx.Err() != nil {
		return Stats{}, ErrSuspended
	}
	recs, err := o.Journal.Load()
	if err != nil {
		return Stats{}, &StoreError{err}
	}
	o.Resolve = maps.Clone(o.Resolve)
	effectCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &run{
		o: o, outer: ctx, ctx: effectCtx, replay: journal.Standing(recs),
		seen: map[string]struct{}{}, wake: make(chan struct{}, 1), clock0: o.Clock(),
	}
	if k, ok := o.Journal.(journal.ValueKeeper); ok {
		r.keeps = k.KeepsValues()
	}
	defer cancel()
	defer r.end() // also when node code ends the goroutine
	if len(recs) > 0 {
		r.seq, r.base = recs[len(recs)-1].Seq, time.Duration(recs[len(recs)-1].At)
	}
	start, err := r.begin()
	if err != nil {
		return Stats{}, err
	}
	err = r.first(main, start)
	if r.fatal == nil {
		err = r.finish(err)
	} else {
		err = r.fatal
	}
	r.stats.Active = r.now
	return r.stats, err
}

// begin writes or reads the start record.
func (r *run) begin() ([]byte, error) {
	if len(r.replay) == 0 && r.o.More != nil {
		return nil, ErrPaused
	}
	if len(r.replay) == 0 {
		wall := r.o.Wall()
		r.began = wall
		r.add(journal.Record{Kind: journal.Start, Path: r.o.RunID, Wall: wall.UnixNano(), Body: r.o.Start})
		return r.o.Start, nil
	}
	first := &r.replay[0]
	if r.o.RunID == "" {
		r.o.RunID = first.Path
	}
	if first.Kind != journal.Start || first.Path != r.o.RunID {
		return nil, &Drift{Class: DriftRun, Message: fmt.Sprintf("the journal is of run %q, this is %q", first.Path, r.o.RunID)}
	}
	r.began = time.Unix(0, first.Wall)
	r.pos = 1
	r.recorded = map[string]*effect{}
	return first.Body, nil
}

// first runs the first branch, on the caller's goroutine.
func (r *run) first(main func(*Scope, []byte) error, start []byte) (err error) {
	r.root = &branch{run: r}
	r.cur = r.root
	defer func() {
		if p := recover(); p != nil {
			r.caught(p)
		}
	}()
	r.top = &Scope{b: r.root}
	return main(r.top, start)
}

// caught takes a panic of a branch; one that only unwinds it is no panic.
func (r *run) caught(p any) {
	if _, ok := p.(stopped); !ok && r.fatal == nil {
		r.fatal = &PanicError{Value: p, Stack: debug.Stack()}
	}
}

// fail ends the session from inside a branch.
func (r *run) fail(err error) {
	if r.fatal == nil {
		r.fatal = err
	}
	panic(stopped{})
}

// finish writes or finds the end record.
func (r *run) finish(err error) error {
	if r.pos < len(r.replay) {
		rec := &r.replay[r.pos]
		if rec.Kind == journal.End {
			return err
		}
		return &Drift{Class: DriftMissing, Path: rec.Path, Message: "the code has ended, the journal goes on"}
	}
	if r.o.More != nil {
		if perr := r.lookOn(); perr != nil {
			return perr
		}
		return r.finish(err)
	}
	end := journal.Record{Kind: journal.End}
	if err != nil {
		end.Status, end.Body = journal.Failed, journal.AsFailure(err).Encode()
	}
	r.add(end)
	failpoint.At(failpoint.EndAppended)
	if serr := r.settle(); serr != nil {
		return serr
	}
	failpoint.At(failpoint.EndDurable)
	return err
}

// end unwinds what still waits; nothing is journaled any more.
func (r *run) end() {
	_ = r.last.Wait()
	_ = r.tell() // the session ends in any case
	r.over = true
	r.root.unwind()
	for e := r.open.first; e != nil; e = e.next {
		e.abandon()
	}
}
