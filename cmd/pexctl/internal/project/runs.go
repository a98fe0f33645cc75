package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/providers/cassette"
)

// ReadCassette reads the recording in a file.
func ReadCassette(file string) ([]journal.Record, error) {
	recs, err := cassette.Load(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Usagef("--from: %w", err)
	}
	if err != nil {
		return nil, failure.Usagef("--from %s: %w", file, err)
	}
	return recs, nil
}

// Grace is how long what is under way may go on after the first Ctrl-C.
const Grace = 5 * time.Second

// RunsEnv is what executes the runs of a home and reads them again.
func RunsEnv(c *ui.Call, home string) runs.Env {
	env := host.Runs(c.Catalog, home, host.Reporter{
		Diagnostics: func(found diag.List) error { return ui.ShowDiagnostics(c, found) },
		EnvFiles:    c.EnvFiles,
		SpecGone: func(file string) {
			fmt.Fprintf(c.Stderr, "pexctl: %s is gone: the run goes on with the spec as it was\n", file)
		},
	})
	env.Recording, env.By, env.Grace = ReadCassette, thisUser, Grace
	return env
}

// OpenRuns opens the home that a command about runs works in; it must exist. spec
// is the one that the command is given, or "".
func OpenRuns(c *ui.Call, spec string) (*runs.Service, error) {
	dir, err := HomeOfSpec(c, spec)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "runs")); err != nil {
		hint := OtherHomes(c, "runs")
		if hint == "" {
			hint = "--home or PEX_HOME names another home; a run prints where it is stored when it ends"
		}
		return nil, failure.NotFoundf(hint, "there are no runs in %s", fspath.Relative(dir))
	}
	return OpenHome(c, dir)
}

// OpenHome opens a home, and makes it if need be.
func OpenHome(c *ui.Call, dir string) (*runs.Service, error) {
	s, err := runs.Open(dir, RunsEnv(c, dir))
	if err != nil {
		return nil, failure.Infra(err)
	}
	return s, nil
}

// RunArg opens the home that a command works in, and finds the run in it that the
// command was given.
func RunArg(c *ui.Call) (*runs.Service, string, error) {
	word := c.Arg(0)
	if word == "" {
		return nil, "", failure.Usagef("no run given: pexctl %[1]s RUN (pexctl runs ls lists them; pexctl %[1]s last takes the latest)", c.Name)
	}
	if err := c.AtMost(1); err != nil {
		return nil, "", err
	}
	return FindRun(c, word, "")
}

// FindRun opens the home of a spec, or where that is "" the one that the command
// works in, and finds the run that a word stands for.
func FindRun(c *ui.Call, word, spec string) (s *runs.Service, run string, err error) {
	if s, err = OpenRuns(c, spec); err == nil {
		run, err = s.Find(word)
		err = RunError(c, s, err)
	}
	if p, ok := errors.AsType[*failure.Detail](err); ok && p.Code == "not_found" {
		if home := HomeWithRun(c, word); home != "" {
			p.Hint = fmt.Sprintf("it is stored in %s: add --home %s", fspath.Relative(home), fspath.Quote(fspath.Relative(home)))
		}
	}
	return s, run, err
}

// ReadRun reads the run that a command was given.
func ReadRun(c *ui.Call, s *runs.Service, run string) (*runs.Run, error) {
	r, err := s.Read(run)
	return r, RunError(c, s, err)
}

// RunError adds to an error of the runs of a home what the user can do, and tells
// the caller's mistakes from the store's trouble.
func RunError(c *ui.Call, s *runs.Service, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*runs.RecordingError](err); ok {
		return fmt.Errorf("run %s goes on with what another run recorded: %w", e.Run, RunError(c, s, e.Err))
	}
	if _, ok := errors.AsType[*runs.StartError](err); ok {
		return failure.Infra(err)
	}
	if missing, ok := errors.AsType[*runs.NotFoundError](err); ok {
		known, lerr := s.Home().List()
		if near := ui.Nearest(missing.Run, known); lerr == nil && near != "" {
			return failure.NotFoundf("", "there is no run %s in %s; did you mean %s?", missing.Run, fspath.Relative(missing.Dir), near)
		}
		return failure.NotFoundf("pexctl runs ls lists them", "there is no run %s in %s", missing.Run, fspath.Relative(missing.Dir))
	}
	if d, ok := errors.AsType[*host.InvalidError](err); ok {
		return ui.ShowDiagnostics(c, d.Found)
	}
	if errors.Is(err, journal.ErrCorrupt) {
		return failure.Infra(fmt.Errorf("store_corrupt: %w (pexctl store check says more)", err))
	}
	return StoreError(err)
}

// StoreError tells a caller's mistake from the store's trouble.
func StoreError(err error) error {
	var path *fs.PathError
	var held *journal.HeldError
	var failed *failure.Error
	var exit *ui.ExitError
	switch {
	case errors.As(err, &failed), errors.As(err, &exit):
		return err
	case errors.Is(err, journal.ErrFull), errors.Is(err, journal.ErrCorrupt), errors.As(err, &path), errors.As(err, &held):
		return failure.Infra(err)
	}
	return failure.Usagef("%w", err) // a name that is taken or no name
}

// RunNames says what a RUN may be, for --help.
const RunNames = "RUN is the id of a run, the beginning of only one, or last: the run that began last."

// NewRunID is the id of a run to start: what --run-id says, else one of the time.
func NewRunID(given string) (string, error) {
	switch given {
	case "":
		return runs.NewID(time.Now()), nil
	case runs.Latest:
		return "", failure.Usagef("--run-id %s: no run is called %[1]s, the word stands for the run that began last; give it another id", runs.Latest)
	}
	return given, nil
}
