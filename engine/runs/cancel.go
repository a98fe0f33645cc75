package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
)

const (
	cancelInterval = 100 * time.Millisecond // interval at which a session checks for a request to cancel its run
	// cancelWait limits how long Cancel waits for the process that executes the run,
	// which first completes writes in flight.
	cancelWait = 60 * time.Second
)

// watchCancel closes requested once someone has requested to cancel the run, and checks
// until stop is called. A request made while no process executed the run counts at once.
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
		tick := time.NewTicker(cancelInterval)
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

// cancelledBy returns who requested the cancellation, or the zero Actor if unknown.
func (se *Session) cancelledBy() (who engine.Actor) {
	b, _ := se.home.CancelRequested(se.Input.RunID)
	if json.Unmarshal(b, &who) != nil {
		return engine.Actor{}
	}
	return who
}

// Cancel ends a run permanently, whether any process executes it or it waits, and
// returns its result. The run may still end in another way if it was about to. The error
// is an *EndedError if the run had already ended. If both the result and the error are
// non-nil, the run ended but the request could not be removed from the home.
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
	res, err := s.endReleased(ctx, run)
	if errors.As(err, new(*NotFoundError)) { // removed meanwhile
		return nil, errors.Join(err, s.home.CancelDone(run))
	}
	if err != nil {
		return nil, err
	}
	return res, s.home.CancelDone(run)
}

// endReleased applies the request to cancel a run once no process has it open.
func (s *Service) endReleased(ctx context.Context, run string) (*engine.Result, error) {
	tick := time.NewTicker(cancelInterval)
	defer tick.Stop()
	for until := time.Now().Add(cancelWait); ; {
		pid, held := s.home.Holder(run)
		if !held {
			res, err := s.endCancelled(ctx, run)
			other, ok := errors.AsType[*journal.InUseError](err)
			if !ok {
				return res, err
			}
			pid = other.PID // it opened the run first, and learns of the request
		}
		if time.Now().After(until) {
			return nil, &NotCancelledError{fmt.Sprintf("run %s: process %d has not cancelled it after %s; the request remains in effect", run, pid, cancelWait)}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// endCancelled applies the request to cancel a run that no process executes. If its
// process has ended the run meanwhile, it only reads the result.
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
	se.storeSummary(res)
	return res, se.Close()
}
