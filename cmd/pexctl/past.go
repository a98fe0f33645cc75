package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// past is what a run's journal holds.
type past struct {
	records []journal.Record
	start   engine.Start
	program *engine.Program
	host    engine.Host // as a session would have it; nothing of it is open
	said    *lastWord   // nil = no session noted how it stands
}

// homeOfRuns is the home that a command about runs works in; it must exist. spec
// is the one that the command is given, or "".
func homeOfRuns(c *ui.Call, spec string) (dir string, home *journal.Home, err error) {
	if dir, err = homeOfSpec(c, spec); err != nil {
		return "", nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "runs")); err != nil {
		return "", nil, noRuns(c, dir)
	}
	home, err = journal.OpenHome(dir, journal.Exit)
	if err != nil {
		return "", nil, failure.Infra(err)
	}
	return dir, home, nil
}

// noRuns says that a home has no runs, and which homes near it have some.
func noRuns(c *ui.Call, dir string) error {
	hint := elsewhere(c, "runs")
	if hint == "" {
		hint = "--home or PEX_HOME names another home; a run prints where it is stored when it ends"
	}
	return failure.NotFoundf(hint, "there are no runs in %s", fspath.Relative(dir))
}

// target is the run that a command is about.
type target struct {
	dir  string // the home
	home *journal.Home
	run  string
}

// oneTarget is the run that a command was given, in the home it works in.
func oneTarget(c *ui.Call) (t target, err error) {
	word, err := oneRun(c)
	if err != nil {
		return t, err
	}
	return targetNamed(c, word, "")
}

// targetNamed is the run that a word stands for, in the home of a spec, or
// where that is "" in the one that the command works in.
func targetNamed(c *ui.Call, word, spec string) (t target, err error) {
	t.dir, t.home, err = homeOfRuns(c, spec)
	if err == nil {
		t.run, err = runNamed(c, t.dir, t.home, word)
	}
	if p, ok := errors.AsType[*failure.Detail](err); ok && p.Code == "not_found" {
		if home := homeWith(c, word); home != "" {
			p.Hint = fmt.Sprintf("it is stored in %s: add --home %s", fspath.Relative(home), fspath.Quote(fspath.Relative(home)))
		}
	}
	return t, err
}

// oneRun is the run that a command was given.
func oneRun(c *ui.Call) (string, error) {
	run := c.Arg(0)
	if run == "" {
		return "", failure.Usagef("no run given: pexctl %[1]s RUN (pexctl runs ls lists them; pexctl %[1]s last takes the latest)", c.Name)
	}
	return run, ui.AtMostArgs(c, 1)
}

// past reads the run without locking it, and makes its program again.
func (t target) past(c *ui.Call) (*past, error) {
	recs, err := t.home.Read(t.run)
	if err != nil {
		return nil, unread(t.home, t.dir, t.run, err)
	}
	p, err := pastOf(c, t.dir, recs)
	if p != nil {
		p.said = t.said()
	}
	return p, err
}

func pastOf(c *ui.Call, dir string, recs []journal.Record) (*past, error) {
	p, found, err := remake(dir, recs, nil)
	if found.Failed() {
		if err := ui.ShowDiagnostics(c, found); err != nil {
			return nil, failure.Usagef("run %s: its program cannot be made again by this version of pexctl", p.start.Input.RunID)
		}
	}
	return p, err
}

// remake makes a run's program again, and says what is in the way. source is
// that of the program where the start record leaves it out; nil = it does not.
func remake(dir string, recs []journal.Record, source json.RawMessage) (*past, diag.List, error) {
	start, err := engine.ReadStart(recs)
	if err != nil {
		return nil, nil, failure.Infra(err)
	}
	if source != nil {
		start.Program = source
	}
	if start.Input.Origin == nil { // a cassette that was put into the home
		start.Input.Origin = &engine.Origin{}
	}
	p := &past{records: recs, start: start}
	origin := start.Input.Origin
	program, found := dsl.Recompile(start.Program, origin.Dir, recompileOptions(origin))
	if found.Failed() {
		return p, found, failure.Usagef("its program cannot be made again by this version of pexctl: %s", found[0].Message)
	}
	p.program = program
	p.host, err = newHost(program, settingsOf(origin, dir, start.Input.Parameters))
	if err != nil {
		return p, nil, failure.Usagef("%w", err)
	}
	return p, nil, nil
}

// look is the run as its journal has it; sinks hear all of it.
func (p *past) look(ctx context.Context, f *engine.Follow, sinks ...engine.Sink) *engine.Result {
	host := p.host
	host.Sinks = sinks
	in := p.start.Input
	return p.asItEnded(engine.Run(ctx, p.program, in, host, engine.Options{
		Journal: journal.Frozen(p.records), Follow: f, Version: buildVersion(), Conversation: true,
	}))
}

// unread tells which run cannot be read, and why.
func unread(home *journal.Home, dir, run string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		known, lerr := home.List()
		if near := ui.Nearest(run, known); lerr == nil && near != "" {
			return failure.NotFoundf("", "there is no run %s in %s; did you mean %s?", run, fspath.Relative(dir), near)
		}
		return failure.NotFoundf("pexctl runs ls lists them", "there is no run %s in %s", run, fspath.Relative(dir))
	}
	if errors.Is(err, journal.ErrCorrupt) {
		return failure.Infra(fmt.Errorf("store_corrupt: %w (pexctl store check says more)", err))
	}
	return storeError(err)
}
