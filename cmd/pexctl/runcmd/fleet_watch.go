package runcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/providers/temporal"
)

// fleetWatch follows a run.
type fleetWatch struct {
	*fleetRuns
	ctx    context.Context
	run    string
	note   func(string)
	person interrupt.Responder // answers questions; nil = the run waits
	lines  []byte              // of the journal so far

	ended  chan struct{} // closed once the workflow has ended
	output []byte        // then: all lines of the journal
	err    error
	noted  bool // that nothing answers
	stalls stall
}

// stall is for how long nothing has happened.
type stall struct {
	program *engine.Program // nil = not known yet
	since   time.Time       // of the last record
	noted   bool
}

// await waits for the end of the workflow.
func (w *fleetWatch) await() {
	defer close(w.ended)
	_, w.output, w.err = w.Driver.Wait(w.ctx, w.c.Tenant, w.run)
}

// The waits between two looks at a run.
const (
	firstLook = 100 * time.Millisecond
	maxLook   = time.Second
)

// watch returns the result of the run once it has ended or waits.
func (w *fleetWatch) watch(sinks []engine.Sink, conversation bool) (*engine.Result, error) {
	recs, err := w.more(0)
	if err != nil {
		return nil, err
	}
	if len(recs) == 0 {
		return nil, context.Cause(w.ctx)
	}
	env := host.Runs(w.c.Catalog, w.home, host.Reporter{Diagnostics: func(diag.List) error { return nil }, SpecGone: func(string) {}})
	r, err := env.Restore(recs, nil)
	if err != nil {
		return nil, failure.Infra(err)
	}
	r.Host.Sinks = sinks
	w.stalls = stall{program: r.Program, since: time.Now()}
	var broken error
	tail := &runtime.Tail{More: func(seen uint64) (more []journal.Record, err error) {
		more, broken = w.more(max(seen, uint64(len(recs))))
		return more, broken
	}}
	res := runtime.Run(w.ctx, r.Program, r.Start.Input, r.Host, runtime.Options{
		Journal: &journal.Memory{Records: recs}, Follow: tail, Conversation: conversation, Version: version.String(),
	})
	return res, broken
}

// more waits for the records after the first seen ones. It returns none if the run waits for an
// answer that no one gives here, and once it has ended.
func (w *fleetWatch) more(seen uint64) ([]journal.Record, error) {
	for wait := firstLook; ; wait = min(2*wait, maxLook) {
		ended := w.look()
		c, err := journal.Decode(w.lines)
		if err != nil {
			return nil, failure.Infra(err)
		}
		if uint64(len(c.Records)) > seen {
			w.stalls.since, w.stalls.noted = time.Now(), false
			return c.Records[seen:], nil
		}
		w.noteStall()
		if ended {
			return nil, w.failed()
		}
		if done, err := w.answer(); done || err != nil {
			return nil, err
		}
		select {
		case <-w.ctx.Done():
			return nil, nil
		case <-w.ended:
		case <-time.After(wait):
		}
	}
}

// look reads new lines of the journal. It reports whether the run has ended, so that there are no
// others.
func (w *fleetWatch) look() (ended bool) {
	select {
	case <-w.ended:
		if len(w.output) > len(w.lines) {
			w.lines = w.output
		}
		return true
	default:
	}
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	more, err := w.Driver.Journal(ctx, w.c.Tenant, w.run, len(w.lines))
	switch {
	case err == nil:
		w.lines, w.noted = append(w.lines, more...), false
	case !w.noted && w.ctx.Err() == nil && !isClosed(w.ended):
		w.noted = true
		w.note("No worker answers for the run (" + err.Error() + "). It goes on once one does: pexctl worker")
	}
	return false
}

// noteStall says once which queues have no worker if nothing has happened for a while.
func (w *fleetWatch) noteStall() {
	if s := &w.stalls; s.noted || s.program == nil || time.Since(s.since) < patience {
		return
	}
	w.stalls.noted = true
	missing, err := w.Driver.Unpolled(w.ctx, w.stalls.program)
	if err == nil && len(missing) > 0 {
		w.note("No worker polls " + strings.Join(missing, ", ") + ", so the run may wait. Start one: pexctl worker SPEC")
	}
}

// patience is how long a worker may take to answer.
const patience = 5 * time.Second

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// failed returns why the workflow failed, or nil.
func (w *fleetWatch) failed() error {
	if w.err == nil || w.ctx.Err() != nil {
		return nil
	}
	return w.fail(w.run, w.err)
}

// answer asks the open questions of a run that waits. done reports that some remain.
func (w *fleetWatch) answer() (done bool, err error) {
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	state, err := w.Driver.State(ctx, w.c.Tenant, w.run)
	if err != nil || !state.Waiting || state.Records > bytes.Count(w.lines, []byte{'\n'}) {
		return false, nil // look again
	}
	for _, q := range state.Questions {
		if w.person == nil || q.Kind == interrupt.Review {
			return true, nil
		}
		given, err := w.person.Ask(w.ctx, q)
		if err != nil || len(given) == 0 {
			return true, nil //nolint:nilerr // the question stays open
		}
		err = w.Driver.Decide(w.ctx, w.c.Tenant, w.run, map[string]json.RawMessage{q.Path: given}, nil, project.User())
		if refused, ok := errors.AsType[*temporal.RefusedError](err); ok {
			w.note(refused.Error()) // another person may have answered
		} else if err != nil {
			return false, w.fail(w.run, err)
		}
	}
	return false, nil
}
