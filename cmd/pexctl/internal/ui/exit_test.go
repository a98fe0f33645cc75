package ui_test

import (
	"testing"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/stop"
)

func TestExitCodeOfARun(t *testing.T) {
	for _, c := range []struct {
		code   stop.Code
		status stop.RunStatus
		want   int
	}{
		{stop.Answered, stop.RunCompleted, ui.ExitOK},
		{stop.MaxSteps, stop.RunStopped, ui.ExitLimited},
		{stop.Interrupted, stop.RunInterrupted, ui.ExitWaiting},
		{stop.NeedsReview, stop.RunInterrupted, ui.ExitWaiting},
		{stop.Suspended, stop.RunInterrupted, ui.ExitInterrupted},
		{stop.StoreFull, stop.RunInterrupted, ui.ExitInfra},
		{stop.StoreUnavailable, stop.RunInterrupted, ui.ExitInfra},
		{stop.StoreCorrupt, stop.RunInterrupted, ui.ExitInfra},
		{stop.StoreFull, stop.RunFailed, ui.ExitInfra},
		{stop.ProviderError, stop.RunFailed, ui.ExitInfra},
		{stop.ToolsChanged, stop.RunFailed, ui.ExitInfra},
		{stop.StepFailed, stop.RunFailed, ui.ExitNegative},
		{stop.Cancelled, stop.RunCancelled, ui.ExitNegative},
	} {
		if got := ui.RunExitCode(stop.Reason{Code: c.code}, c.status); got != c.want {
			t.Errorf("%s, %s: exit code %d, want %d", c.status, c.code, got, c.want)
		}
	}
}
