package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
)

// do performs work of a run. It returns the outcome as bytes.
func (w *Worker) do(ctx context.Context, work *runtime.Work) ([]byte, error) {
	site, release, err := w.sites.get(ctx, activity.GetInfo(ctx).WorkflowExecution)
	if err != nil {
		return nil, err
	}
	defer release()
	stop := beat(ctx)
	out := site.Perform(ctx, work, nil)
	stop()
	if ctx.Err() != nil && out.Status == journal.Failed && work.Class != journal.Write {
		out = kernel.Outcome{Lost: true} // the worker stops: another one repeats it
	}
	if u, ok := errors.AsType[*kernel.Unavailable](out.Fatal); ok {
		return nil, notBegun(u)
	}
	encoded, err := out.AppendBinary(nil)
	if err != nil {
		return nil, temporal.NewNonRetryableApplicationError(err.Error(), errRefused, nil)
	}
	return encoded, nil
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
			activity.RecordHeartbeat(ctx)
			select {
			case <-tick.C:
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
	client client.Client
	env    runs.Env

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

func newSites(c client.Client, env runs.Env) *sites {
	return &sites{client: c, env: env, runs: map[string]*siteOfRun{}}
}

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
	start, err := s.start(ctx, e)
	if err != nil {
		return notBegun(fmt.Errorf("the start of the run cannot be read: %w", err))
	}
	run, err := s.env.Restore([]journal.Record{{Seq: 1, Kind: journal.Start, Body: start}}, nil)
	switch {
	case err != nil:
		return temporal.NewNonRetryableApplicationError(err.Error(), errRefused, nil)
	case run.Program.Digest != run.Start.Digest:
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("this worker compiles the program to %s, the run has %s; use a worker of the version of pexctl that started it", run.Program.Digest, run.Start.Digest), errRefused, nil)
	}
	if ready := s.env.Ready; ready != nil {
		if err := ready(run.Program, run.Start); err != nil {
			return notBegun(err)
		}
	}
	at.site, at.host = runtime.NewSite(run.Program, run.Host, run.Start.Input), run.Host.Close
	return nil
}

// start reads the body of the start record of a run from the history of its workflow.
func (s *sites) start(ctx context.Context, e workflow.Execution) (json.RawMessage, error) {
	events := s.client.GetWorkflowHistory(ctx, e.ID, e.RunID, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	first, err := events.Next()
	if err != nil {
		return nil, err
	}
	var set settings
	var start, encoded []byte
	err = converter.GetDefaultDataConverter().FromPayloads(first.GetWorkflowExecutionStartedEventAttributes().GetInput(), &set, &start, &encoded)
	return start, err
}
