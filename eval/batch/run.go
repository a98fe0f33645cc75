package batch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/trial"
)

// Run runs an evaluation, or goes on with one: trials that were graded never
// run again, those that ended in an error do, and one that was cut short goes
// on where it was. When ctx ends, trials in flight are suspended. All rows are
// durable when it returns. An error says that it could not be run: its files,
// or its dataset; then Stop says how far it came.
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
	ctx    context.Context // of all that the session does
	stop   context.CancelFunc
	jobs   chan *job
	ended  chan *group
	bare   []engine.Program // of the variants, without their sources
}

func newSession(ctx context.Context, p Plan, store *store) *session {
	s := &session{plan: p, store: store, jobs: make(chan *job), ended: make(chan *group), bare: make([]engine.Program, len(p.Variants))}
	s.ctx, s.stop = context.WithCancel(ctx)
	s.ledger = newLedger(&s.plan, store.known, s.stop)
	for i, v := range p.Variants {
		s.bare[i] = *v.Program
		s.bare[i].Source = nil // store.program keeps it once
	}
	return s
}

// run passes jobs to workers, and what they give to graders.
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

// deadline ends the session when its time is over: what is in flight is
// suspended.
func (s *session) deadline() (stop func()) {
	limit := time.Duration(s.plan.Limits.MaxDuration)
	if limit <= 0 {
		return func() {}
	}
	t := time.AfterFunc(limit, func() {
		s.ledger.ends(Budget, fmt.Sprintf("limits.max_duration: %s are over", limit))
		s.stop()
	})
	return func() { t.Stop() }
}

func (s *session) work() {
	for j := range s.jobs {
		s.ledger.begins()
		s.attempt(j)
		s.ledger.rests()
		if j.group.left.Add(-1) == 0 {
			s.ended <- j.group
		}
	}
}

// schedule goes over the cases in their order; the variants and repeats of one
// stand side by side.
func (s *session) schedule() error {
	for c, err := range s.plan.Cases() {
		if err != nil {
			s.ledger.ends(Broken, err.Error())
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

// pass gives a group's jobs to the workers; false = the session is over.
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

// skip keeps that a trial was not needed.
func (s *session) skip(j *job) {
	row := j.row()
	row.Outcome = trial.Skipped
	j.left = true
	if err := s.keep(row); err != nil {
		s.ledger.breaks(err)
		return
	}
	s.ledger.skips()
}

// end says how the session ended.
func (s *session) end(ctx context.Context) Stop {
	l := s.ledger
	stop := Stop{Progress: l.standing()}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.why != "":
		stop.Why, stop.Message = l.why, l.message
	case ctx.Err() != nil:
		stop.Why, stop.Message = Suspended, "suspended: it goes on when it is resumed"
	default:
		stop.Why = Done
	}
	return stop
}

// Survey goes over all cases without running any: how many there are, and what
// is wrong with the parameters that they make, the first ten of it.
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
	often  = 250 * time.Millisecond
	lately = 20 // looks that the rate is taken from
)

// watch tells the plan how things stand, now and then until over is closed, and
// then once more.
func (s *session) watch(over <-chan struct{}) {
	if s.plan.Progress == nil {
		<-over
		return
	}
	tick := time.NewTicker(often)
	defer tick.Stop()
	var seen []trial.Progress
	for {
		select {
		case <-over:
			s.plan.Progress(s.ledger.standing())
			return
		case <-tick.C:
			p := s.ledger.standing()
			if seen = append(seen, p); len(seen) > lately {
				seen = seen[1:]
			}
			s.plan.Progress(rated(p, seen[0]))
		}
	}
}

// rated adds to p how fast trials end since an earlier look.
func rated(p, since trial.Progress) trial.Progress {
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
