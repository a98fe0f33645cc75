package runcmd

import (
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/apiclient"
)

// fork forks a run of the server and watches the new run.
func (s *serverRuns) fork(f sessionFlags) error {
	parent, err := s.runArg()
	if err != nil {
		return err
	}
	r := apiclient.Fork{At: s.c.String("at"), Set: s.c.Set}
	if r.OnDrift, err = checkDrift(s.c.String("on-drift")); err != nil {
		return err
	}
	if r.Prompts, err = editedPrompts(s.c); err != nil {
		return err
	}
	if s.c.Bool("dry-run") {
		would, err := s.RehearseFork(s.c.Context, parent, r)
		if err != nil {
			return s.Fail(err)
		}
		return printRehearsal(s.c, would)
	}
	if r.RunID, err = project.NewRunID(s.c.String("run-id")); err != nil {
		return err
	}
	if err := s.Fork(s.c.Context, parent, r); err != nil {
		return s.Fail(err)
	}
	return s.execute(r.RunID, f, engine.Event{})
}
