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

// ledger counts what trials come to, and stops the session when its budget is
// used up, or when nothing more can be learnt from it.
type ledger struct {
	plan *Plan
	stop context.CancelFunc // ends what is in flight

	mu      sync.Mutex
	changed *sync.Cond // a trial has ended, or all is over
	counts  trial.Progress
	known   *known
	ran     int // trials that ended in this session
	errors  int // of them, in an error
	begun   int // admitted, and without a row
	running int
	spent   consumed
	seen    int      // trials that took something, or came to an end, in all sessions
	worst   consumed // of a trial
	health  health
	graders graders
	why     Why // "" = it goes on
	message string
	err     error // the files' own
	started time.Time
}

func newLedger(p *Plan, k *known, stop context.CancelFunc) *ledger {
	l := &ledger{
		plan: p, known: k, stop: stop, spent: k.spent, seen: k.seen, worst: k.worst, started: time.Now(),
		health: health{first: max(inARow, p.Concurrency)}, graders: graders{},
	}
	l.changed = sync.NewCond(&l.mu)
	l.counts.Total = p.total()
	for _, s := range k.trials {
		l.health.past = l.health.past || s.state == passed || s.state == failed || s.state == ungraded
		l.tell(s.state)
	}
	return l
}

// tell counts a trial that is over: those that are run again are not.
func (l *ledger) tell(s state) {
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

// admit waits until the budget lets n more trials begin; false = none begins
// any more.
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
			l.begun += n
			return true
		case l.begun == 0:
			l.end(Budget, l.overBudget())
			return false
		}
		l.changed.Wait()
	}
}

// affords says whether the budget lasts for n more trials beside those that are
// begun. Each is taken for the dearest that was seen, and those that are under
// way for several times as much, as long as few were seen: none of them can be
// called back. While none was seen, nothing is under way beside the first.
func (l *ledger) affords(n int) bool {
	limits := &l.plan.Limits
	if limits.MaxCost <= 0 && limits.MaxTokens <= 0 {
		return true
	}
	if l.seen == 0 && l.begun > 0 {
		return false
	}
	want := l.spent.plus(l.worst.times(float64(n) + float64(l.begun)*l.margin()))
	return (limits.MaxCost <= 0 || want.cost <= limits.MaxCost && l.spent.cost < limits.MaxCost) &&
		(limits.MaxTokens <= 0 || want.tokens <= limits.MaxTokens && l.spent.tokens < limits.MaxTokens)
}

// margin is how many times the dearest trial seen one under way is taken for.
func (l *ledger) margin() float64 { return 2 + 8/float64(max(l.seen, 1)) }

func (l *ledger) overBudget() string {
	limits := &l.plan.Limits
	if limits.MaxCost > 0 && (l.spent.cost >= limits.MaxCost || limits.MaxTokens <= 0) {
		return fmt.Sprintf("limits.max_cost: $%.4f of $%.4f spent; one more trial would likely exceed it", l.spent.cost, limits.MaxCost)
	}
	return fmt.Sprintf("limits.max_tokens: %d of %d tokens used; one more trial would likely exceed it", l.spent.tokens, limits.MaxTokens)
}

// begins and rests say how many trials are in flight.
func (l *ledger) begins() { l.flight(1) }

func (l *ledger) rests() { l.flight(-1) }

func (l *ledger) flight(by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running += by
}

// leaves counts a trial out that has no row: it goes on another time.
func (l *ledger) leaves() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun--
	l.changed.Broadcast()
}

// hears takes note of how a run ended, before its trial is graded.
func (l *ledger) hears(fault *trial.Fault, failure *model.Error, answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if why := l.health.hears(fault, failure, answered); why != "" {
		l.end(Broken, why)
	}
}

// heard takes note of what a check came to: where it has no weight, nothing
// hangs on it.
func (l *ledger) heard(c *Graded, err error) {
	if c.Spec.Weight == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if why := l.graders.hears(c.Spec.Name, err); why != "" {
		l.end(Broken, why)
	}
}

// lands counts a trial that has a row. took is what it consumed in this session.
func (l *ledger) lands(row *trial.Row, took consumed) {
	s := stateOf(row.Outcome, row.Fault)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun--
	l.ran++
	l.tell(s)
	l.known.count(l.known.aCase(row.Key), l.known.trials[l.known.trial(row.Key)].state, -1)
	l.known.count(l.known.aCase(row.Key), s, 1)
	l.spent, l.worst = l.spent.plus(took), l.worst.atLeast(took)
	if s != errored || took != (consumed{}) {
		l.seen++
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

// skips counts a trial that was decided without.
func (l *ledger) skips() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell(skipped)
	l.counts.Note = curtailed(l.counts.Note)
}

func curtailed(note string) string {
	n := 0
	_, _ = fmt.Sscanf(note, "curtailed %d", &n) // or it is the first
	return fmt.Sprintf("curtailed %d", n+1)
}

// decided says whether a case needs no further trial.
func (l *ledger) decided(c, group, variant string) bool {
	if l.plan.Decided == nil || l.known.all { // what is compared is not left out

		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.known.cases[l.known.hash(c, variant)]
	env := exprenv.Case{ID: c, Variant: variant, Group: group, N: int(t.n), Passed: int(t.passed), Errors: int(t.errors)}
	if t.n > 0 {
		env.PassRate = float64(t.passed) / float64(t.n)
		env.Flaky = t.passed > 0 && t.passed < t.n
	}
	return l.plan.Decided(env)
}

// tooManyErrors says that max_errors is certain to be exceeded, or "".
func (l *ledger) tooManyErrors() string {
	limit := &l.plan.MaxErrors
	switch total := l.counts.Total; {
	case limit.Count >= 0 && l.errors > limit.Count && limit.Share == 0:
		return fmt.Sprintf("%s ended in an error, max_errors lets pass %d", trials(l.errors), limit.Count)
	case limit.Share <= 0:
		return ""
	case total > 0 && float64(l.errors) > limit.Share*float64(total):
		return fmt.Sprintf("%d of %d trials ended in an error, max_errors lets pass %g%%", l.errors, total, 100*limit.Share)
	case total == 0 && l.ran >= 20 && float64(l.errors) > limit.Share*float64(l.ran):
		return fmt.Sprintf("%d of %d trials so far ended in an error, max_errors lets pass %g%%", l.errors, l.ran, 100*limit.Share)
	}
	return ""
}

// trials is a count of them.
func trials(n int) string {
	if n == 1 {
		return "1 trial"
	}
	return fmt.Sprintf("%d trials", n)
}

// ends stops the session; the first reason counts.
func (l *ledger) ends(why Why, message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end(why, message)
}

// breaks stops the session because its files cannot be written.
func (l *ledger) breaks(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	l.end(Broken, err.Error())
}

// end is called with mu held. A budget lets what is in flight come to its end.
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

// standing is how the evaluation stands.
func (l *ledger) standing() trial.Progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.counts
	p.InFlight, p.Cost, p.Tokens, p.Elapsed = l.running, l.spent.cost, l.spent.tokens, time.Since(l.started)
	return p
}
