package batch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/trial"
)

// ledger counts results, and stops the session when its budget is used up or further
// trials are pointless.
type ledger struct {
	plan *Plan
	stop context.CancelFunc // interrupts trials in flight

	mu          sync.Mutex
	changed     *sync.Cond // a trial has ended, or the session is over
	counts      trial.Progress
	index       *rowIndex
	ran         int // trials ended in this session
	errors      int // of those, ended in an error
	admitted    int // admitted without a row yet
	running     int
	spent       usage
	costSamples int   // trials with usage, or ended, in all sessions
	maxUsage    usage // of a trial
	health      health
	graders     graders
	why         Why // "" = running
	message     string
	err         error // error of the files
	started     time.Time
}

func newLedger(p *Plan, k *rowIndex, stop context.CancelFunc) *ledger {
	l := &ledger{
		plan: p, index: k, stop: stop, spent: k.spent, costSamples: k.samples, maxUsage: k.maxUsage, started: time.Now(),
		health: health{maxFailures: max(maxConsecutiveErrors, p.Concurrency)}, graders: graders{},
	}
	l.changed = sync.NewCond(&l.mu)
	l.counts.Total = p.total()
	for _, s := range k.trials {
		l.health.earlierReplies = l.health.earlierReplies || s.state == passed || s.state == failed || s.state == ungraded
		l.countOutcome(s.state)
	}
	return l
}

// countOutcome counts a finished trial, unless it will be repeated.
func (l *ledger) countOutcome(s state) {
	switch s {
	case passed:
		l.counts.Passed++
	case failed:
		l.counts.Failed++
	case errored, ungraded:
		return
	case skipped:
	}
	l.counts.Trials++
}

// admit waits until the budget allows n more trials; false = no more trials start.
func (l *ledger) admit(ctx context.Context, n int) bool {
	wake := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.changed.Broadcast()
	})
	defer wake()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		switch {
		case l.why != "" || ctx.Err() != nil:
			return false
		case l.affords(n):
			l.admitted += n
			return true
		case l.admitted == 0:
			l.end(Budget, l.overBudget())
			return false
		}
		l.changed.Wait()
	}
}

// affords reports whether the budget allows n more trials in addition to those started.
// Each is assumed to cost the maximum seen so far, and trials in flight several times
// that while few were seen, since they cannot be stopped. Until the first one ends, it
// runs alone.
func (l *ledger) affords(n int) bool {
	limits := &l.plan.Limits
	if limits.MaxCost <= 0 && limits.MaxTokens <= 0 {
		return true
	}
	if l.costSamples == 0 && l.admitted > 0 {
		return false
	}
	want := l.spent.plus(l.maxUsage.times(float64(n) + float64(l.admitted)*l.margin()))
	return (limits.MaxCost <= 0 || want.cost <= limits.MaxCost && l.spent.cost < limits.MaxCost) &&
		(limits.MaxTokens <= 0 || want.tokens <= limits.MaxTokens && l.spent.tokens < limits.MaxTokens)
}

// margin returns the multiple of the maximum assumed for a trial in flight.
func (l *ledger) margin() float64 { return 2 + 8/float64(max(l.costSamples, 1)) }

func (l *ledger) overBudget() string {
	limits := &l.plan.Limits
	if limits.MaxCost > 0 && (l.spent.cost >= limits.MaxCost || limits.MaxTokens <= 0) {
		return fmt.Sprintf("limits.max_cost: $%.4f of $%.4f spent; one more trial would likely exceed it", l.spent.cost, limits.MaxCost)
	}
	return fmt.Sprintf("limits.max_tokens: %d of %d tokens used; one more trial would likely exceed it", l.spent.tokens, limits.MaxTokens)
}

// startTrial and endTrial count the trials in flight.
func (l *ledger) startTrial() { l.flight(1) }

func (l *ledger) endTrial() { l.flight(-1) }

func (l *ledger) flight(by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running += by
}

// releaseTrial removes a trial without a row; it resumes later.
func (l *ledger) releaseTrial() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admitted--
	l.changed.Broadcast()
}

// recordRun records how a run ended, before its trial is graded.
func (l *ledger) recordRun(fault *trial.Fault, failure *model.Error, answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if why := l.health.record(fault, failure, answered); why != "" {
		l.end(Broken, why)
	}
}

// recordCheck records the result of a weighted check.
func (l *ledger) recordCheck(c *Graded, err error) {
	if c.Spec.Weight == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if why := l.graders.record(c.Spec.Name, err); why != "" {
		l.end(Broken, why)
	}
}

// recordRow counts a trial with a row. took is its usage in this session.
func (l *ledger) recordRow(row *trial.Row, took usage) {
	s := stateOf(row.Outcome, row.Fault)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.admitted--
	l.ran++
	l.countOutcome(s)
	l.index.count(l.index.caseID(row.Key), l.index.trials[l.index.trialID(row.Key)].state, -1)
	l.index.count(l.index.caseID(row.Key), s, 1)
	l.spent, l.maxUsage = l.spent.plus(took), l.maxUsage.atLeast(took)
	if s != errored || took != (usage{}) {
		l.costSamples++
	}
	if s == errored || s == ungraded {
		l.errors++
		l.counts.Error++
		l.counts.Trials++
	}
	if why := l.tooManyErrors(); why != "" {
		l.end(Broken, why)
	}
	l.changed.Broadcast()
}

// countSkipped counts a trial that was not needed.
func (l *ledger) countSkipped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.countOutcome(skipped)
	l.counts.Note = curtailed(l.counts.Note)
}

func curtailed(note string) string {
	n := 0
	_, _ = fmt.Sscanf(note, "curtailed %d", &n) // no match for the first
	return fmt.Sprintf("curtailed %d", n+1)
}

// decided reports whether a case needs no further trials.
func (l *ledger) decided(c, group, variant string) bool {
	if l.plan.Decided == nil || l.index.all { // compared variants need all trials

		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.index.cases[l.index.hash(c, variant)]
	env := exprenv.Case{ID: c, Variant: variant, Group: group, N: int(t.n), Passed: int(t.passed), Errors: int(t.errors)}
	if t.n > 0 {
		env.PassRate = float64(t.passed) / float64(t.n)
		env.Flaky = t.passed > 0 && t.passed < t.n
	}
	return l.plan.Decided(env)
}

// tooManyErrors returns why max_errors will be exceeded, or "".
func (l *ledger) tooManyErrors() string {
	limit := &l.plan.MaxErrors
	switch total := l.counts.Total; {
	case limit.Count >= 0 && l.errors > limit.Count && limit.Share == 0:
		return fmt.Sprintf("%s ended in an error; max_errors allows %d", trials(l.errors), limit.Count)
	case limit.Share <= 0:
		return ""
	case total > 0 && float64(l.errors) > limit.Share*float64(total):
		return fmt.Sprintf("%d of %d trials ended in an error; max_errors allows %g%%", l.errors, total, 100*limit.Share)
	case total == 0 && l.ran >= 20 && float64(l.errors) > limit.Share*float64(l.ran):
		return fmt.Sprintf("%d of %d trials so far ended in an error; max_errors allows %g%%", l.errors, l.ran, 100*limit.Share)
	}
	return ""
}

// trials formats a number of trials.
func trials(n int) string {
	if n == 1 {
		return "1 trial"
	}
	return fmt.Sprintf("%d trials", n)
}

// stopWith stops the session; the first reason counts.
func (l *ledger) stopWith(why Why, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end(why, message)
}

// fail stops the session because its files cannot be written.
func (l *ledger) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	l.end(Broken, err.Error())
}

// end is called with mu held. If a budget is used up, trials in flight may finish.
func (l *ledger) end(why Why, message string) {
	if l.why != "" {
		return
	}
	l.why, l.message = why, message
	if why != Budget {
		l.stop()
	}
	l.changed.Broadcast()
}

// progress returns the progress of the evaluation.
func (l *ledger) progress() trial.Progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.counts
	p.InFlight, p.Cost, p.Tokens, p.Elapsed = l.running, l.spent.cost, l.spent.tokens, time.Since(l.started)
	return p
}
