package main

import (
	"errors"
	"flag"
	"io"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/engine"
)

func TestAJournalThatCannotBeWrittenIsTheStoresFault(t *testing.T) {
	app := &cli.App{Writer: io.Discard, ErrWriter: io.Discard}
	c := cli.NewContext(app, flag.NewFlagSet("run", flag.ContinueOnError), nil)
	res := &engine.Result{Status: engine.Interrupted, StopReason: engine.StopReason{Code: engine.StopStoreUnavailable, Message: "input/output error"}, Resumes: true}
	err := answer(c, res, false)
	var e *exitError
	if !errors.As(err, &e) || e.code != exitInfra {
		t.Errorf("the exit code is that of %v, want %d", err, exitInfra)
	}
}
