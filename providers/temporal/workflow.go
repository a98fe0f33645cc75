package temporal

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// execution is one execution of the workflow of a run.
type execution struct {
	worker  *Worker
	ctx     workflow.Context // not cancelled with the workflow
	set     settings
	start   []byte
	program []byte // portable
	run     *runs.Run
	journal journal.Memory
	written lines // of journal
	waiting []interrupt.Question
	ended   bool

	current   *batch         // of the session; nil = none executes
	batches   []*batch       // for the next sessions
	cancelled *engine.Actor  // who cancelled the run; nil = no one
	cancel    chan struct{}  // closed then
	inbox     *runtime.Inbox // of the session; nil = none executes
}

// workflow is the workflow of a run.
func (w *Worker) workflow(ctx workflow.Context, set settings, start, program, encoded []byte) (*output, error) {
	free, _ := workflow.NewDisconnectedContext(ctx)
	x := &execution{worker: w, ctx: free, set: set, start: start, program: program, cancel: make(chan struct{})}
	x.journal.RoundTrip = true
	if err := x.open(encoded); err != nil {
		if len(encoded) > 0 {
			panic(err) // another build began the run: blocks the workflow until that build is back
		}
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), errRefused, nil)
	}
	defer func() { _ = x.run.Host.Close() }() // it opened nothing
	for _, d := range set.Decisions {
		x.batches = append(x.batches, newBatch(d))
	}
	if set.Cancelled != nil {
		x.cancelBy(*set.Cancelled)
	}
	if err := x.listen(); err != nil {
		return nil, err
	}
	workflow.Go(ctx, func(ctx workflow.Context) {
		ctx.Done().Receive(ctx, nil)
		x.cancelBy(engine.Actor{})
	})
	return x.execute()
}

// open compiles the program of the run, and reads the journal so far.
func (x *execution) open(encoded []byte) error {
	recs := []journal.Record{{Seq: 1, Kind: journal.Start, Body: x.start}}
	if len(encoded) > 0 {
		c, err := journal.Decode(encoded)
		if err != nil {
			return fmt.Errorf("the journal of the run: %w", err)
		}
		recs, x.journal.Records = c.Records, c.Records
	}
	var err error
	x.run, err = x.worker.o.restore(recs[:1], x.program, x.set.Version)
	return err
}

// restore compiles the program of a run, and makes its host.
func (o *Options) restore(start []journal.Record, program []byte, version string) (*runs.Run, error) {
	env, err := o.Env(program)
	if err != nil {
		return nil, err
	}
	run, err := env.Restore(start, nil)
	switch {
	case err != nil:
		return nil, err
	case run.Program.Digest != run.Start.Digest:
		return nil, fmt.Errorf("this worker compiles the program to %s, the run has %s; use a worker of version %s of pexctl, which started it", run.Program.Digest, run.Start.Digest, version)
	}
	return run, nil
}

// execute executes sessions of the run until it ends.
func (x *execution) execute() (*output, error) {
	for {
		x.current = x.next()
		res, full := x.session(x.current)
		if res.Status != stop.RunInterrupted {
			x.ended, x.waiting = true, nil
			x.current.end(nil)
			return x.output(res)
		}
		x.waiting = res.Interrupts
		x.current.end(x.waiting)
		x.current = nil
		if full {
			return nil, x.continueAsNew()
		}
		if len(x.waiting) == 0 {
			return nil, temporal.NewNonRetryableApplicationError(res.StopReason.Message, errRefused, nil)
		}
		x.announce(res)
		if err := workflow.Await(x.ctx, func() bool { return len(x.batches) > 0 || x.cancelled != nil || x.full() }); err != nil {
			return nil, err
		}
		if len(x.batches) == 0 && x.cancelled == nil {
			return nil, x.continueAsNew()
		}
	}
}

// next removes and returns the decisions for the next session.
func (x *execution) next() *batch {
	b := newBatch(decisions{})
	if len(x.batches) > 0 {
		b, x.batches = x.batches[0], x.batches[1:]
	}
	if b.By.IsZero() {
		b.By = x.set.By
	}
	return b
}

// session executes one session of the run. full reports that it ended since the history is long.
func (x *execution) session(d *batch) (res *engine.Result, full bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := newWorld(x.ctx, x.activityOptions)
	w.full, w.suspend = x.full, func() {
		full = true
		cancel()
	}
	x.inbox = &runtime.Inbox{}
	defer func() { x.inbox = nil }()
	res = runtime.Run(ctx, x.run.Program, x.run.Start.Input, x.run.Host, runtime.Options{
		Journal: &x.journal, World: w, Virtual: x.worker.o.Virtual, Version: x.set.Version, Conversation: x.set.Conversation,
		WallClock: x.wallClock(), Grace: maxGrace, By: d.By, Answers: d.Answers, Resolve: d.Resolve,
		Cancel: x.cancel, CancelledBy: func() engine.Actor { return *x.cancelled }, Decided: d.accept, Inbox: x.inbox,
	})
	return res, full
}

// maxGrace is how long an execution waits for its work in progress before it continues as a new
// one. Work ends before, by its own timeout.
const maxGrace = 24 * time.Hour

func (x *execution) wallClock() func() time.Time {
	if x.worker.o.Virtual {
		return nil
	}
	return func() time.Time { return workflow.Now(x.ctx) }
}

// full reports whether the history is so long that the run should continue in a new execution.
func (x *execution) full() bool {
	info := workflow.GetInfo(x.ctx)
	return info.GetContinueAsNewSuggested() || x.set.MaxEvents > 0 && info.GetCurrentHistoryLength() > x.set.MaxEvents
}

// continueAsNew returns the error that ends this execution and begins the next.
func (x *execution) continueAsNew() error {
	if err := workflow.Await(x.ctx, func() bool { return workflow.AllHandlersFinished(x.ctx) || len(x.batches) > 0 }); err != nil {
		return err
	}
	set := x.set
	set.Decisions, set.Cancelled = nil, x.cancelled
	for _, b := range x.batches {
		set.Decisions = append(set.Decisions, b.decisions)
	}
	encoded, err := x.written.of(x.journal.Records)
	if err != nil {
		return err
	}
	return workflow.NewContinueAsNewError(x.ctx, workflowName, set, x.start, x.program, encoded)
}

// output returns the result of the workflow.
func (x *execution) output(res *engine.Result) (*output, error) {
	x.announce(res)
	encoded, err := x.written.of(x.journal.Records)
	if err != nil {
		return nil, err
	}
	return &output{Result: jsonvalue.Encode(res), Journal: encoded}, nil
}

// listen handles updates and queries.
func (x *execution) listen() error {
	ctx := x.worker.o.Codec.HandlerContext(x.ctx) // rejects what it cannot decode
	decide := workflow.UpdateHandlerOptions{Validator: func(d decisions) error { return x.check(d) }}
	if err := workflow.SetUpdateHandlerWithOptions(ctx, decideUpdate, x.decide, decide); err != nil {
		return err
	}
	if err := workflow.SetUpdateHandler(ctx, messageUpdate, x.receive); err != nil {
		return err
	}
	cancel := func(_ workflow.Context, by engine.Actor) error {
		x.cancelBy(by)
		return nil
	}
	if err := workflow.SetUpdateHandler(ctx, cancelUpdate, cancel); err != nil {
		return err
	}
	if err := workflow.SetQueryHandler(ctx, stateQuery, func() (State, error) { return x.state(), nil }); err != nil {
		return err
	}
	return workflow.SetQueryHandler(ctx, journalQuery, func(from int) ([]byte, error) {
		encoded, err := x.written.of(x.journal.Records)
		return encoded[min(max(from, 0), len(encoded)):], err
	})
}

// lines are the lines of a journal, encoded as far as they were needed.
type lines struct {
	records int
	encoded []byte
	chain   journal.Chain
}

// of returns the lines of records, which begin with those of the calls before.
func (l *lines) of(recs []journal.Record) (_ []byte, err error) {
	for ; l.records < len(recs); l.records++ {
		rec := recs[l.records]
		if l.encoded, l.chain, err = journal.AppendLine(l.encoded, &rec, l.chain); err != nil {
			return nil, err
		}
	}
	return l.encoded, nil
}

func (x *execution) state() State {
	return State{Waiting: len(x.waiting) > 0 && x.inbox == nil, Questions: x.waiting, Ended: x.ended, Records: len(x.journal.Records), At: workflow.Now(x.ctx)}
}

func refusal(format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), errRefused, nil)
}

// receive handles a message.
func (x *execution) receive(ctx workflow.Context, m message) error {
	if x.ended {
		return refusal("the run has ended")
	}
	msg := runtime.NewMessage(m.ID, m.Text, m.By)
	msg.Interrupt = m.Interrupt
	var err error
	if x.inbox == nil {
		err = runtime.AppendMessage(&x.journal, msg, workflow.Now(ctx))
	} else {
		posted := x.inbox.Post(msg)
		_ = workflow.Await(ctx, posted.Settled)
		err = posted.Wait(context.Background())
	}
	if err != nil {
		return refusal("%s", err)
	}
	return nil
}

// cancelBy cancels the run.
func (x *execution) cancelBy(by engine.Actor) {
	if x.cancelled == nil {
		x.cancelled = &by
		close(x.cancel)
	}
}
