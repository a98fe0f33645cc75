package batch

import (
	"time"

	"github.com/pexctl/pex/eval/trial"
)

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
