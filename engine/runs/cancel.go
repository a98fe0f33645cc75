package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runtime"
)

const (
	cancelTick = 100 * time.Millisecond // how often a session looks for the decision to cancel its run
	// cancelWait is how long a process that executes the run may take to see the
	// decision and to let its calls in flight end: a write is waited for.
	cancelWait = 60 * time.Second
)

// watchCancel looks for the decision to cancel the run until stop is called;
// requested is closed by it. One that was made while no process executed the run
// counts at once.
func (se *Session) watchCancel() (requested chan struct{}, stop func()) {
	requested = make(chan struct{})
	done := make(chan struct{})
	look := func() bool {
		_, ok := se.home.CancelRequested(se.Input.RunID)
		if ok {
			close(requested)
		}
		return ok
	}
	if look() {
		return requested, func() {}
	}
	var looking sync.WaitGroup
	looking.Go(func() {
		tick := time.NewTicker(cancelTick)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if look() {
					return
				}
			case <-done:
				return
			}
		}
	})
	return requested, func() {
		close(done)
		looking.Wait()
	}
}

// cancelledBy is who made the decision, as far as it says so.
func (se *Session) cancelledBy() (who engine.Actor) {
	b, _ := se.home.CancelRequested(se.Input.RunID)
	if json.Unmarshal(b, &who) != nil {
		return engine.Actor{}
	}
	return who
}

// Cancel ends a run for good, in whatever process it runs or while it waits, and
// returns how it ended, which may be in another way if it was about to end. The
// error is an *EndedError where it had ended before. An error beside a result
// says that the decision could not be taken off the home.
func (s *Service) Cancel(ctx context.Context, run string) (*engine.Result, error) {
	r, err := s.Read(run)
	if err != nil {
		return nil, err
	}
	if r.Ended() {
		return nil, &EndedError{r.replay(ctx, runtime.Options{Conversation: true})}
	}
	who, err := json.Marshal(s.env.by())
	if err == nil {
		err = s.home.RequestCancel(run, who)
	}
	if err != nil {
		return nil, &NotCancelledError{fmt.Sprintf("cancel run %s: %v", run, err)}
	}
	if err := s.awaitRelease(ctx, run); err != nil {
		return nil, err
	}
	res, err := s.endCancelled(ctx, run)
	if err != nil {
		return nil, err
	}
	return res, s.home.CancelDone(run)
}

// awaitRelease waits until no process has the run open.
func (s *Service) awaitRelease(ctx context.Context, run string) error {
	tick := time.NewTicker(cancelTick)
	defer tick.Stop()
	for until := time.Now().Add(cancelWait); ; {
		pid, held := s.home.Holder(run)
		if !held {
			return nil
		}
		if time.Now().After(until) {
			return &NotCancelledError{fmt.Sprintf("run %s: pid %d was told to cancel it %s ago and has not ended; the decision stands", run, pid, cancelWait)}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// endCancelled ends a run that no process executes by the decision that was left
// for it. One that its process ended meanwhile is only read.
func (s *Service) endCancelled(ctx context.Context, run string) (*engine.Result, error) {
	se, r, err := s.reopen(run)
	if err != nil {
		return nil, err
	}
	if r.Ended() {
		return r.replay(ctx, runtime.Options{Conversation: true}), se.Close()
	}
	requested := make(chan struct{})
	close(requested)
	res := runtime.Run(ctx, se.Program, se.Input, se.Host, runtime.Options{
		Journal: se.file, By: s.env.by(), Cancel: requested, Version: s.env.Version,
	})
	se.note(res)
	return res, se.Close()
}
