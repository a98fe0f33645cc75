package main

import (
	"errors"
	"io"
	"testing"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/runcmd"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
)

func TestAJournalThatCannotBeWrittenIsTheStoresFault(t *testing.T) {
	c := callOf(streams{nil, io.Discard, io.Discard})
	res := &engine.Result{Status: stop.RunInterrupted, StopReason: stop.Reason{Code: stop.StoreUnavailable, Message: "input/output error"}, Resumes: true}
	err := runcmd.PrintResult(c, res, runcmd.OutputFlags{})
	var e *ui.ExitError
	if !errors.As(err, &e) || e.Code != ui.ExitInfra {
		t.Errorf("the exit code is that of %v, want %d", err, ui.ExitInfra)
	}
}
