package runcmd

import (
	"errors"
	"flag"
	"io"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
)

func TestUnwritableJournalIsAStoreError(t *testing.T) {
	env := &ui.Env{Stdout: io.Discard, Stderr: io.Discard}
	c := ui.NewCall(env, cli.NewContext(&cli.App{}, flag.NewFlagSet("pexctl", flag.ContinueOnError), nil))
	res := &engine.Result{Status: stop.RunInterrupted, StopReason: stop.Reason{Code: stop.StoreUnavailable, Message: "input/output error"}, Resumable: true}
	err := printResult(c, res, "", outputFlags{})
	var e *ui.ExitError
	if !errors.As(err, &e) || e.Code != ui.ExitInfra {
		t.Errorf("the exit code is that of %v, want %d", err, ui.ExitInfra)
	}
}
