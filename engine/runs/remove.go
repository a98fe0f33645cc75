package runs

import (
	"context"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/stop"
)

// Removable refuses the removal of runs that may still be wanted, all of them or
// none: the error is a *WantedError. force allows it, but not of a run that a
// process executes, which is a *journal.InUseError.
func (s *Service) Removable(ctx context.Context, runs []string, force bool) error {
	var reasons []string
	for _, run := range runs {
		sum := s.verify(s.Summary(ctx, run))
		if pid, held := s.home.Holder(run); held {
			return &journal.InUseError{Run: run, PID: pid}
		}
		if why := wanted(sum); why != "" && !force {
			reasons = append(reasons, "run "+run+" "+why)
		}
	}
	if len(reasons) > 0 {
		return &StillNeededError{reasons}
	}
	return nil
}

// wanted says why a run may still be wanted; "" = it has ended.
func wanted(s Summary) string {
	switch {
	case s.Status == Corrupt:
		return "is damaged and may be repairable (see pexctl store check)"
	case s.Problem != "":
		return "cannot be read here: " + s.Problem
	case s.Interrupts > 0:
		return "is waiting for an answer"
	case s.Status == stop.RunInterrupted, s.StopReason.Code == stop.StoreFull:
		return "can be resumed"
	}
	return ""
}

// Remove removes a run for good.
func (s *Service) Remove(run string) error { return s.missing(run, s.home.Remove(run)) }
