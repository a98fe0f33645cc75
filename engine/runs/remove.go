package runs

import (
	"context"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/stop"
)

// CheckRemovable returns an error if one of the runs must not be removed: a
// *StillNeededError for runs that may still be needed, unless force is set, or a
// *journal.InUseError for a run that a process executes.
func (s *Service) CheckRemovable(ctx context.Context, runs []string, force bool) error {
	var reasons []string
	for _, run := range runs {
		sum := s.verify(s.Summary(ctx, run))
		if pid, held := s.home.Holder(run); held {
			return &journal.InUseError{Run: run, PID: pid}
		}
		if why := whyNeeded(sum); why != "" && !force {
			reasons = append(reasons, "run "+run+" "+why)
		}
	}
	if len(reasons) > 0 {
		return &StillNeededError{reasons}
	}
	return nil
}

// whyNeeded returns why a run may still be needed, or "".
func whyNeeded(s Summary) string {
	switch {
	case s.Status == Corrupt:
		return "is damaged and may be repairable (see pexctl store check)"
	case s.Problem != "":
		return "is not readable here: " + s.Problem
	case s.Interrupts > 0:
		return "is waiting for an answer"
	case s.Status == stop.RunInterrupted, s.StopReason.Code == stop.StoreFull:
		return "can be resumed"
	}
	return ""
}

// Remove deletes a run.
func (s *Service) Remove(run string) error { return s.asNotFound(run, s.home.Remove(run)) }
