package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/trial"
)

// Run runs or resumes an evaluation. Graded trials are not repeated, those that ended in
// an error are, and interrupted ones resume. When ctx ends, trials in flight are
// suspended. All rows are durable when it returns. An error concerns the files or the
// dataset; Stop then says how far it got.
func Run(ctx context.Context, p Plan) (Stop, error) {
	if err := p.complete(); err != nil {
		return Stop{}, err
	}
	store, err := openStore(&p)
	if err != nil {
		return Stop{}, err
	}
	s := newSession(ctx, p, store)
	defer s.stop()
	defer s.callers.Close()
	err = s.run()
	if cerr := store.close(); err == nil && cerr != nil {
		err = cerr
	}
	return s.end(ctx), err
}

// session is one session of an evaluation.
type session struct {
	plan   Plan
	store  *store
	ledger *ledger
	ctx    context.Context // context of the whole session
	stop   context.CancelFunc
	jobs   chan *job
	ended  chan *group
	bare   []engine.Program // programs of the variants without sources

	callers runtime.Workers // perform the calls of trials
}

func newSession(ctx context.Context, p Plan, store *store) *session {
	s := &session{plan: p, store: store, jobs: make(chan *job), ended: make(chan *group), bare: make([]engine.Program, len(p.Variants))}
	s.ctx, s.stop = context.WithCancel(ctx)
	s.ledger = newLedger(&s.plan, store.index, s.stop)
	for i, v := range p.Variants {
		s.bare[i] = *v.Program
		s.bare[i].Source = nil // store.program stores it once
	}
	return s
}

// run passes jobs to workers, and their results to graders.
func (s *session) run() error {
	over := make(chan struct{})
	var workers, graders, watcher sync.WaitGroup
	watcher.Go(func() { s.watch(over) })
	for range s.plan.Concurrency {
		workers.Go(s.work)
	}
	for range s.plan.Graders {
		graders.Go(s.gradeAll)
	}
	clock := s.deadline()
	err := s.schedule()
	close(s.jobs)
	workers.Wait()
	close(s.ended)
	graders.Wait()
	clock()
	close(over)
	watcher.Wait()
	return errors.Join(err, s.ledger.err)
}

// deadline ends the session when its time is up; trials in flight are suspended.
func (s *session) deadline() (stop func()) {
	limit := time.Duration(s.plan.Limits.MaxDuration)
	if limit <= 0 {
		return func() {}
	}
	t := time.AfterFunc(limit, func() {
		s.ledger.stopWith(Budget, fmt.Sprintf("limits.max_duration: %s have passed", limit))
		s.stop()
	})
	return func() { t.Stop() }
}

func (s *session) work() {
	for j := range s.jobs {
		s.ledger.startTrial()
		s.attempt(j)
		s.ledger.endTrial()
		if j.group.left.Add(-1) == 0 {
			s.ended <- j.group
		}
	}
}

// schedule iterates over the cases in order, with their variants and repeats.
func (s *session) schedule() error {
	for c, err := range s.plan.Cases() {
		if err != nil {
			s.ledger.stopWith(Broken, err.Error())
			return err
		}
		for repeat := 1; repeat <= s.plan.Repeat; repeat++ {
			for _, g := range s.groups(&c, repeat) {
				if !s.pass(g) {
					return nil
				}
			}
		}
		if s.ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// pass passes a group's jobs to the workers; false = the session is over.
func (s *session) pass(g *group) bool {
	if !s.ledger.admit(s.ctx, len(g.jobs)) {
		return false
	}
	g.left.Store(int32(len(g.jobs)))
	for _, j := range g.jobs {
		select {
		case s.jobs <- j:
		case <-s.ctx.Done():
			return false
		}
	}
	return true
}

// skip writes the row of a trial that was not needed.
func (s *session) skip(j *job) {
	row := j.row()
	row.Outcome = trial.Skipped
	j.noRow = true
	if err := s.appendRow(row); err != nil {
		s.ledger.fail(err)
		return
	}
	s.ledger.countSkipped()
}

// end returns how the session ended.
func (s *session) end(ctx context.Context) Stop {
	l := s.ledger
	stop := Stop{Progress: l.progress()}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.why != "":
		stop.Why, stop.Message = l.why, l.message
	case ctx.Err() != nil:
		stop.Why, stop.Message = Suspended, "suspended; resume it to continue"
	default:
		stop.Why = Done
	}
	return stop
}

// Survey checks all cases without running any. It returns their number, and the first ten
// errors in their parameters.
func Survey(cases dataset.Cases, variants []Variant) (n int, err error) {
	var wrong []error
	for c, err := range cases() {
		if err != nil {
			return n, err
		}
		n++
		for _, v := range variants {
			if _, err := v.Inputs(c); err != nil && len(wrong) < 10 {
				wrong = append(wrong, inCase(&c, err))
				break
			}
		}
	}
	return n, errors.Join(wrong...)
}

func inCase(c *dataset.Case, err error) error {
	if c.Line > 0 {
		return fmt.Errorf("line %d: %w", c.Line, err)
	}
	return err
}

const (
	progressInterval = 250 * time.Millisecond
	rateSamples      = 20 // samples that the rate is computed from
)

// watch reports progress periodically until over is closed, and then a last time.
func (s *session) watch(over <-chan struct{}) {
	if s.plan.Progress == nil {
		<-over
		return
	}
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	var samples []trial.Progress
	for {
		select {
		case <-over:
			s.plan.Progress(s.ledger.progress())
			return
		case <-tick.C:
			p := s.ledger.progress()
			if samples = append(samples, p); len(samples) > rateSamples {
				samples = samples[1:]
			}
			s.plan.Progress(withRate(p, samples[0]))
		}
	}
}

// withRate adds the rate of trials since an earlier progress to p.
func withRate(p, since trial.Progress) trial.Progress {
	span := p.Elapsed - since.Elapsed
	if span <= 0 || p.Trials <= since.Trials {
		return p
	}
	p.Rate = float64(p.Trials-since.Trials) / span.Seconds()
	if p.Total > p.Trials {
		p.Left = time.Duration(float64(p.Total-p.Trials) / p.Rate * float64(time.Second))
	}
	return p
}
