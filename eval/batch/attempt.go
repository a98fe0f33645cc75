package batch

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/trial"
)

// attempt runs a trial until it ends or the session stops.
func (s *session) attempt(j *job) {
	if s.ctx.Err() != nil {
		j.noRow = true
		return
	}
	if j.offset >= 0 {
		s.loadTrial(j)
		return
	}
	if s.ledger.decided(j.c.ID, j.c.Group, j.key.Variant) {
		s.skip(j)
		return
	}
	v := &s.plan.Variants[j.variant]
	params, err := v.Inputs(j.c)
	if err != nil {
		j.failToStart(params, err)
		return
	}
	host, err := v.Host(params)
	if err != nil {
		j.failToStart(params, err)
		return
	}
	for s.execute(j, params, host) {
		j.attempt++
	}
}

// execute runs the trial's agent. again reports that it must be repeated: it ended
// because of recorded results of an earlier session, or that session's journal has
// another spec or other parameters (Plan.Force).
func (s *session) execute(j *job, params map[string]any, host engine.Host) (again bool) {
	j.run = runID(s.plan.Manifest.ID, j.key, j.attempt)
	runJournal, err := s.store.pool.Run(j.run)
	if err != nil {
		s.ledger.fail(err)
		j.noRow = true
		return false
	}
	resumed := resumeJournal(runJournal)
	if resumed.hasOtherParameters(params) {
		return true
	}
	var requests prompts
	o := runtime.Options{Journal: resumed, Grace: s.plan.Grace, Version: s.plan.Manifest.Version, Workers: &s.callers}
	if s.plan.Prompts {
		o.Tracer = &requests
	}
	in := engine.Input{RunID: j.run, Parameters: params, Origin: &engine.Origin{Version: s.plan.Manifest.Version}}
	if t := s.plan.Tracer; t != nil {
		host.Sinks = append(slices.Clip(host.Sinks), t.Sinks(j.key, &s.bare[j.variant], &in)...)
	}
	ctx, limit := s.boundTrial(&o)
	started := time.Now()
	res := runtime.Run(ctx, &s.bare[j.variant], in, host, o)
	latency := float64(time.Since(started)) / float64(time.Millisecond)
	limit.stop()
	if resumed.hasRecords {
		latency = float64(res.DurationMS) // of all its sessions
	}
	expired := limit.expired.Load()
	if res.Resumable {
		s.ledger.fail(s.store.cause(res))
	}
	if res.Resumable || res.StopReason.Code == stop.Suspended && !expired {
		j.noRow = true
		return false
	}
	j.closed = res.Status != stop.RunInterrupted
	j.usage = j.usage.plus(usage{res.Usage.CostUSD, res.Usage.Total()})
	row := j.row()
	row.Parameters, row.Run, row.Fault = params, runOf(j.run, res, latency, requests.texts), faultOf(res)
	row.Run.Unpriced = trial.Unpriced(&s.bare[j.variant], &res.Usage)
	if expired && res.Status != stop.RunCompleted && res.Status != stop.RunStopped {
		row.Fault = &trial.Fault{Kind: trial.TimeoutFault, Message: fmt.Sprintf("took longer than limits.trial_timeout, %s", time.Duration(s.plan.Limits.TrialTimeout))}
	}
	if j.result = row; row.Fault == nil {
		j.subject = subject(j.c.Row, params, res, requests.texts, latency)
		j.subject.Unpriced = row.Run.Unpriced
	}
	if resumed.hasRecords && row.Fault != nil && (row.Fault.Kind == trial.ProviderFault || res.StopReason.Code == stop.Internal) {
		s.store.pool.Forget(j.run)
		row.Outcome = trial.Errored
		s.trace(row)
		return true
	}
	s.ledger.recordRun(row.Fault, res.Failure, !resumed.hasRecords && res.Usage.Total() > 0)
	return false
}

// failToStart sets the result of a trial that could not be started.
func (j *job) failToStart(params map[string]any, err error) {
	j.result = j.row()
	j.result.Parameters = params
	j.result.Fault = &trial.Fault{Kind: trial.InternalFault, Message: err.Error()}
}

// loadTrial loads a trial from its row to grade it again.
func (s *session) loadTrial(j *job) {
	row, err := s.store.rowAt(j.offset)
	if err != nil {
		s.ledger.fail(err)
		j.noRow = true
		return
	}
	row.Fault = nil
	j.result, j.subject, j.run = row, subjectOf(row), row.Run.ID
}

// cause returns why a run could not append to its journal.
func (s *store) cause(res *engine.Result) error {
	if err := s.pool.Err(); err != nil {
		return err
	}
	return fmt.Errorf("%s", res.Error)
}

// timeLimit is the time limit of a trial.
type timeLimit struct {
	expired atomic.Bool
	timers  []*time.Timer
	cancel  context.CancelFunc
}

// timeoutGrace is how long a trial that timed out may take to end, since writes in flight
// are not interrupted.
const timeoutGrace = 5 * time.Second

// boundTrial bounds a trial: it is cancelled when its time is up, and suspended if it
// does not end then.
func (s *session) boundTrial(o *runtime.Options) (context.Context, *timeLimit) {
	l := &timeLimit{}
	limit := time.Duration(s.plan.Limits.TrialTimeout)
	if limit <= 0 {
		return s.ctx, l
	}
	ctx, cancel := context.WithCancel(s.ctx)
	decided := make(chan struct{})
	o.Cancel, l.cancel = decided, cancel
	l.timers = []*time.Timer{
		time.AfterFunc(limit, func() { l.expired.Store(true); close(decided) }),
		time.AfterFunc(limit+timeoutGrace, cancel),
	}
	return ctx, l
}

func (l *timeLimit) stop() {
	for _, t := range l.timers {
		t.Stop()
	}
	if l.cancel != nil {
		l.cancel()
	}
}

// prompts collects the texts of a run's requests.
type prompts struct{ texts []string }

// Trace implements runtime.Tracer.
func (p *prompts) Trace(_ *engine.Program, w runtime.TraceEvent) {
	asked, ok := w.(runtime.Requested)
	if !ok {
		return
	}
	var b strings.Builder
	for i, m := range asked.Request.Messages {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, text := range m.Text {
			b.WriteString(text)
		}
	}
	p.texts = append(p.texts, b.String())
}

// runOf returns what a row stores of a result.
func runOf(id string, res *engine.Result, latency float64, prompts []string) trial.Run {
	return trial.Run{
		ID: id, Status: res.Status, StopReason: res.StopReason, Response: res.Response, Output: res.Output,
		Plan: res.Plan, Steps: res.Steps, Replans: res.Summary.Replans, Tokens: res.Usage.Total(), Cost: res.Usage.CostUSD,
		ModelCalls: res.Usage.ModelCalls, ToolCalls: res.Usage.ToolCalls, LatencyMS: latency, Warnings: res.Warnings, Prompts: prompts,
	}
}

// subject returns the subject of a trial's checks.
func subject(row, params map[string]any, res *engine.Result, prompts []string, latency float64) *trial.Subject {
	s := &trial.Subject{
		Case: row, Parameters: params, Result: res, Output: res.Response,
		Trace: runtime.TraceOf(res, prompts), Latency: time.Duration(latency * float64(time.Millisecond)),
	}
	if len(res.Output) > 0 {
		s.Output = jsonvalue.Plain(res.Output)
	}
	return s
}

// resumedJournal is the journal of a trial's run with the records of earlier sessions.
type resumedJournal struct {
	journal.Journal
	recs       []journal.Record
	err        error
	hasRecords bool // there are records
}

func resumeJournal(j journal.Journal) *resumedJournal {
	r := &resumedJournal{Journal: j}
	r.recs, r.err = j.Load()
	r.hasRecords = len(r.recs) > 0
	return r
}

// Load returns the records of earlier sessions.
func (r *resumedJournal) Load() ([]journal.Record, error) { return r.recs, r.err }

// hasOtherParameters reports whether the journal's run had other parameters, so that its
// results do not apply to this trial.
func (r *resumedJournal) hasOtherParameters(params map[string]any) bool {
	was, err := runtime.ReadStart(r.recs)
	if err != nil {
		return false // none, or the run itself reports the error
	}
	body, err := jsonvalue.Marshal(engine.Start{Input: engine.Input{Parameters: params}})
	if err != nil {
		return false
	}
	now, err := runtime.ReadStart([]journal.Record{{Kind: journal.Start, Body: body}})
	return err == nil && !bytes.Equal(canonicalParameters(was), canonicalParameters(now))
}

// canonicalParameters returns the parameters in a start record as JSON.
func canonicalParameters(s engine.Start) []byte {
	if len(s.Input.Parameters) == 0 {
		return nil
	}
	b, _ := jsonvalue.Marshal(s.Input.Parameters) // decoded from JSON
	return b
}
