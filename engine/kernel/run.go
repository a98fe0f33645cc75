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

// run is one session. Only the running branch accesses it, except for the fields guarded
// by mu.
type run struct {
	o           Options
	outer       context.Context // its end suspends the session
	ctx         context.Context // of effects; ends with the session
	keepsValues bool            // the journal stores Go values
	stats       Stats
	replay      []journal.Record
	pos         int       // next record of replay
	seq         uint64    // of the last record
	startedAt   time.Time // wall time at which the run started

	root   *branch
	top    *Scope
	cur    *branch // the running branch
	ready  queue
	conds  []*condition // in the order of the Await calls
	fatal  error        // ends the session
	closed bool         // the session has ended and branches are unwinding

	paths            map[string]struct{} // paths of all effects
	keyBuf           []byte              // of the last effect's key
	recorded         map[string]*effect  // open effects by path during a replay
	open             effectList          // in issue order
	toStart          []*effect           // effects to start once the tick is committed
	questions        []*effect
	resolvedBy       map[string]*stamp // permitted decisions about writes in doubt, by path
	inheritedDone    bool              // open effects of earlier sessions were handled
	carriedOver      []*journal.Record // outcomes from voided records to deliver
	replayQueue      rankedEffects     // effects with recorded outcomes
	cancelled        bool              // the run is cancelled: writes in doubt stay undecided
	cutWrites        bool              // waits for writes were cut since the last failUnstarted
	working          int               // started effects that a branch waits for
	timeouts         int               // started timers of Timeout
	withheld         bool              // Recorded withholds an effect
	messages         messages          // received so far
	interrupting     uint64            // effects issued before the last message with Interrupt; 0 = handled
	heldBack         []*effect         // effects that a recorded message interrupts
	recordedMessages []RecordedMessage // of Recorded, not delivered yet
	yielding         []*effect         // yields of branches, in the order in which they continue
	virtual          virtualQueue
	issued           uint64

	now      time.Duration // active time of the last delivered record
	inactive time.Duration // time without a session until the last decision
	base     time.Duration // active time of earlier sessions
	clock0   time.Duration // clock at the start of this session

	tick         []journal.Record // to append with the next commit
	last         *journal.Ticket  // of the last commit
	unmarked     bool             // records were added since the last marker
	emits        []func()         // of this tick
	pendingEmits []batch          // emits whose commit is in flight

	endedBatch []*effect // effects taken from endedQueue; head is the index of the next
	head       int
	world      World
	local      local // the world, unless there is another one
	mu         sync.Mutex
	endedQueue []*effect    // ended effects in order
	midAnswers []*midAnswer // answers given during writes, to be journaled
}

// Run runs or resumes main, which gets the body of the start record: Options.Start in the
// first session, the journal's later. It returns main's error, or why the session ended
// before main did: ErrSuspended, *Parked, *NeedsReview, *Drift, *PanicError, *StoreError.
// Run is safe for concurrent use with separate journals.
func Run(ctx context.Context, o Options, main func(s *Scope, start []byte) error) (Stats, error) {
	if o.Inbox != nil {
		defer o.Inbox.Close()
	}
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
		o: o, outer: ctx, ctx: effectCtx, replay: journal.WithoutVoided(recs),
		paths: map[string]struct{}{}, world: o.World,
	}
	if r.world == nil {
		r.local.clock, r.local.workers, r.local.wake = o.Clock, o.Workers, make(chan struct{}, 1)
		r.world = &r.local
	}
	r.clock0 = r.world.Now()
	if k, ok := o.Journal.(journal.ValueKeeper); ok {
		r.keepsValues = k.KeepsValues()
	}
	defer cancel()
	defer r.end() // also if node code calls runtime.Goexit
	if rec, ok := o.Recorded.(RecordedMessages); ok {
		r.recordedMessages = rec.Messages()
	}
	if o.Inbox != nil {
		o.Inbox.attach(r.world.Wake)
	}
	if len(recs) > 0 {
		r.seq, r.base = recs[len(recs)-1].Seq, time.Duration(recs[len(recs)-1].At)
	}
	start, err := r.begin()
	if err != nil {
		return Stats{}, err
	}
	err = r.runRoot(main, start)
	if r.fatal == nil {
		err = r.finish(err)
	} else {
		err = r.fatal
	}
	r.stats.Active = r.now
	return r.stats, err
}

// Begin appends the start record of a new run and returns once it is durable. Run then
// continues the run as it resumes any other.
func Begin(j journal.Journal, runID string, start []byte, at time.Time) error {
	t, err := j.Append([]journal.Record{{
		Seq: 1, Kind: journal.Start, Path: runID, WallTime: at.UnixNano(), Body: start, Sync: true,
	}})
	if err == nil {
		err = t.Wait()
	}
	if err != nil {
		return &StoreError{err}
	}
	return nil
}

// begin writes or reads the start record.
func (r *run) begin() ([]byte, error) {
	if len(r.replay) == 0 && r.o.Follow != nil {
		return nil, ErrPaused
	}
	if len(r.replay) == 0 {
		wall := r.o.WallClock()
		r.startedAt = wall
		r.add(journal.Record{Kind: journal.Start, Path: r.o.RunID, WallTime: wall.UnixNano(), Body: r.o.Start})
		r.replayMessagesWith(func(m *RecordedMessage) bool { return m.AtStart })
		return r.o.Start, nil
	}
	first := &r.replay[0]
	if r.o.RunID == "" {
		r.o.RunID = first.Path
	}
	if first.Kind != journal.Start || first.Path != r.o.RunID {
		return nil, &Drift{Class: DriftRun, Message: fmt.Sprintf("the journal is of run %q, this is %q", first.Path, r.o.RunID)}
	}
	r.startedAt = time.Unix(0, first.WallTime)
	r.recorded = map[string]*effect{}
	r.next()
	return first.Body, nil
}

// runRoot runs the first branch on the caller's goroutine.
func (r *run) runRoot(main func(*Scope, []byte) error, start []byte) (err error) {
	r.root = &branch{run: r}
	r.cur = r.root
	defer func() {
		if p := recover(); p != nil {
			r.recovered(p)
		}
	}()
	r.top = &Scope{b: r.root}
	return main(r.top, start)
}

// recovered stores the panic of a branch, unless it only unwinds the branch.
func (r *run) recovered(p any) {
	if _, ok := p.(unwinding); !ok && r.fatal == nil {
		r.fatal = &PanicError{Value: p, Stack: debug.Stack()}
	}
}

// fail ends the session from within a branch.
func (r *run) fail(err error) {
	if r.fatal == nil {
		r.fatal = err
	}
	panic(unwinding{})
}

// finish writes or replays the end record.
func (r *run) finish(err error) error {
	if r.pos < len(r.replay) {
		rec := &r.replay[r.pos]
		if rec.Kind == journal.End {
			return err
		}
		return &Drift{Class: DriftMissing, Path: rec.Path, Message: "the code has ended, the journal goes on"}
	}
	if r.o.Follow != nil {
		if perr := r.tail(); perr != nil {
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

// end unwinds the waiting branches. Nothing is journaled any more.
func (r *run) end() {
	_ = r.last.Wait()
	_ = r.emitDurable() // the session ends in any case
	r.closed = true
	r.root.unwind()
	for e := r.open.first; e != nil; e = e.next {
		e.abandon()
	}
	r.local.end()
}
