package temporal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/providers/temporal/payload"
)

// do performs work of a run. It decodes the work and encodes the outcome itself, since the SDK would
// not tell work that was not begun from an outcome that was lost.
func (w *Worker) do(ctx context.Context, in converter.RawValue) (out converter.RawValue, err error) {
	var work runtime.Work
	if err := w.o.Codec.Converter().FromPayload(in.Payload(), &work); err != nil {
		return out, notBegun(err)
	}
	site, release, err := w.sites.get(ctx, activity.GetInfo(ctx).WorkflowExecution)
	if err != nil {
		return out, err
	}
	defer release()
	outcome := performWith(ctx, site, &work)
	if u, ok := errors.AsType[*kernel.Unavailable](outcome.Fatal); ok {
		return out, notBegun(u)
	}
	p, err := w.encode(outcome)
	if err != nil && outcome.Fatal == nil {
		f := &journal.Failure{Code: "error", Message: "The call was made, so do not repeat it, but its result cannot be passed on: " + err.Error()}
		p, err = w.encode(kernel.Outcome{Status: journal.Failed, Body: f.Encode(), Encoded: true})
	}
	if err != nil {
		return out, refused(err)
	}
	return converter.NewRawValue(p), nil
}

// performWith performs work, and reports meanwhile that the worker does.
func performWith(ctx context.Context, site *runtime.Site, work *runtime.Work) kernel.Outcome {
	stop := beat(ctx)
	defer stop()
	out := site.Perform(ctx, work, nil)
	if ctx.Err() != nil && out.Status == journal.Failed && work.Class != journal.Write {
		return kernel.Outcome{Lost: true} // the worker stops: another one repeats it
	}
	return out
}

// encode encodes an outcome as it travels.
func (w *Worker) encode(out kernel.Outcome) (*commonpb.Payload, error) {
	b, err := out.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	p, err := payload.Values().ToPayload(b)
	if err != nil {
		return nil, err
	}
	encoded, err := w.o.Codec.Encode([]*commonpb.Payload{p})
	if err != nil {
		return nil, err
	}
	return encoded[0], nil
}

// refused returns the error of work that this worker cannot perform.
func refused(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), errRefused, nil)
}

func notBegun(err error) error {
	return temporal.NewNonRetryableApplicationError(err.Error(), errUnavailable, nil)
}

// beat reports that the worker performs an activity until stop is called.
func beat(ctx context.Context) (stop func()) {
	tick, done := time.NewTicker(heartbeat), make(chan struct{})
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			case <-done:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { close(done) }
}

// once is the retry policy of activities: the kernel decides what is repeated.
var once = &temporal.RetryPolicy{MaximumAttempts: 1}

// sites are the sites of the runs whose work the worker performed last. Safe for concurrent use.
type sites struct {
	o *Options

	mu     sync.Mutex
	closed bool
	runs   map[string]*siteOfRun // by the id of the first execution
}

// siteOfRun is the site of a run, with the work that uses it.
type siteOfRun struct {
	once  sync.Once
	site  *runtime.Site
	host  func() error
	err   error
	users int
	used  time.Time // at the end of its last use
}

// maxSites is how many sites are kept for further work of their runs.
const maxSites = 64

func newSites(o *Options) *sites { return &sites{o: o, runs: map[string]*siteOfRun{}} }

// get returns the site of an execution, which release must be called for.
func (s *sites) get(ctx context.Context, e workflow.Execution) (_ *runtime.Site, release func(), err error) {
	s.mu.Lock()
	at := s.runs[e.ID]
	if at == nil {
		at = &siteOfRun{}
		s.runs[e.ID] = at
	}
	at.users++
	s.mu.Unlock()
	at.once.Do(func() { at.err = s.open(ctx, at, e) })
	if at.err != nil {
		s.mu.Lock()
		delete(s.runs, e.ID) // the next work tries again
		s.mu.Unlock()
		return nil, nil, at.err
	}
	return at.site, func() { s.release(at) }, nil
}

func (s *sites) release(at *siteOfRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at.users, at.used = at.users-1, time.Now()
	for len(s.runs) > maxSites || s.closed {
		id := s.oldest()
		if id == "" {
			return
		}
		s.drop(id)
	}
}

// oldest returns the run whose unused site was used the longest time ago, or "".
func (s *sites) oldest() (id string) {
	for run, at := range s.runs {
		if at.users == 0 && (id == "" || at.used.Before(s.runs[id].used)) {
			id = run
		}
	}
	return id
}

// drop closes a site. s.mu is held.
func (s *sites) drop(id string) {
	at := s.runs[id]
	delete(s.runs, id)
	if at.site != nil {
		_ = errors.Join(at.site.Close(), at.host()) // errors of closing servers do not affect runs
	}
}

// close closes all sites that no work uses, and the others when their work ends.
func (s *sites) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for id := s.oldest(); id != ""; id = s.oldest() {
		s.drop(id)
	}
}

// open makes the site of an execution from the arguments of its workflow.
func (s *sites) open(ctx context.Context, at *siteOfRun, e workflow.Execution) error {
	set, start, program, err := s.begun(ctx, e)
	if err != nil {
		return notBegun(fmt.Errorf("the start of the run cannot be read: %w", err))
	}
	run, err := s.o.restore([]journal.Record{{Seq: 1, Kind: journal.Start, Body: start}}, program, set.Version)
	if err != nil {
		return refused(err)
	}
	at.site, at.host = runtime.NewSite(run.Program, run.Host, run.Start.Input), run.Host.Close
	return nil
}

// begun returns with what a workflow began, from its history.
func (s *sites) begun(ctx context.Context, e workflow.Execution) (set settings, start, program []byte, err error) {
	first, err := s.o.Client.GetWorkflowHistory(ctx, e.ID, e.RunID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
	if err != nil {
		return set, nil, nil, err
	}
	var encoded []byte
	err = s.o.Codec.Converter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &set, &start, &program, &encoded)
	return set, start, program, err
}
