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

// Grace is how long calls in flight may continue after the first Ctrl-C.
const Grace = 5 * time.Second

// RunsEnv returns the environment for executing and reading the runs of a home.
func RunsEnv(c *ui.Call, home string) runs.Env {
	env := host.Runs(c.Catalog, home, host.Reporter{
		Diagnostics: func(found diag.List) error { return ui.ShowDiagnostics(c, found) },
		SpecGone: func(file string) {
			fmt.Fprintf(c.Stderr, "pexctl: %s no longer exists; the run continues with its original spec\n", file)
		},
	})
	env.Recording, env.By, env.Grace = ReadCassette, User, Grace
	return env
}

// OpenRuns opens the home of a command about runs; it must exist. spec is that of
// the command, or "".
func OpenRuns(c *ui.Call, spec string) (*runs.Service, error) {
	dir, err := HomeOfSpec(c, spec)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "runs")); err != nil {
		hint := OtherHomes(c, "runs")
		if hint == "" {
			hint = "to look elsewhere, use --home or PEX_HOME; a run prints where it is stored"
		}
		return nil, failure.NotFoundf(hint, "no runs in %s", fspath.Relative(dir))
	}
	return OpenHome(c, dir)
}

// OpenHome opens a home, and creates it if it does not exist.
func OpenHome(c *ui.Call, dir string) (*runs.Service, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, failure.WithHintf(failure.Infra(fmt.Errorf("the home must be a directory, but %s is a file", fspath.Shown(dir))), "set --home or PEX_HOME to a directory")
	}
	s, err := runs.Open(dir, RunsEnv(c, dir))
	if err != nil {
		return nil, failure.WithHintf(failure.Infra(err), "set --home or PEX_HOME to another directory")
	}
	return s, nil
}

// RunArg opens the home of a command, and finds its argument RUN in it.
func RunArg(c *ui.Call) (*runs.Service, string, error) {
	word := c.Arg(0)
	if word == "" {
		return nil, "", failure.WithHintf(failure.Usagef("no run given"), "use pexctl %[1]s RUN, or pexctl %[1]s last for the latest; pexctl runs ls lists them", c.Name)
	}
	if err := c.AtMost(1); err != nil {
		return nil, "", err
	}
	return FindRun(c, word, "")
}

// FindRun opens the home of a spec or, if it is "", of the command, and finds the
// run that a word refers to.
func FindRun(c *ui.Call, word, spec string) (s *runs.Service, run string, err error) {
	if s, err = OpenRuns(c, spec); err == nil {
		run, err = s.Find(word)
		err = RunError(c, s, err)
	}
	if p, ok := errors.AsType[*failure.Detail](err); ok && p.Code == "not_found" {
		if home := HomeWithRun(c, word); home != "" {
			p.Hint = fmt.Sprintf("it is stored in %s; add --home %s", fspath.Relative(home), fspath.Quote(fspath.Relative(home)))
		}
	}
	return s, run, err
}

// ReadRun reads the run in an argument.
func ReadRun(c *ui.Call, s *runs.Service, run string) (*runs.Run, error) {
	r, err := s.Read(run)
	return r, RunError(c, s, err)
}

// RunError adds hints to an error about the runs of a home, and separates usage
// errors from those of the store.
func RunError(c *ui.Call, s *runs.Service, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*runs.RecordingError](err); ok {
		return fmt.Errorf("run %s replays another run: %w", e.Run, RunError(c, s, e.Err))
	}
	if _, ok := errors.AsType[*runs.StartError](err); ok {
		return failure.Infra(err)
	}
	if missing, ok := errors.AsType[*runs.NotFoundError](err); ok {
		known, lerr := s.Home().List()
		if near := ui.Nearest(missing.Run, known); lerr == nil && near != "" {
			return failure.NotFoundf("", "no run %s in %s; did you mean %s?", missing.Run, fspath.Relative(missing.Dir), near)
		}
		return failure.NotFoundf("pexctl runs ls lists all runs", "no run %s in %s", missing.Run, fspath.Relative(missing.Dir))
	}
	if d, ok := errors.AsType[*host.InvalidError](err); ok {
		return ui.ShowDiagnostics(c, d.Found)
	}
	if errors.Is(err, journal.ErrCorrupt) {
		return failure.Infra(fmt.Errorf("store_corrupt: %w (for details: pexctl store check)", err))
	}
	return StoreError(err)
}

// StoreError separates usage errors from errors of the store.
func StoreError(err error) error {
	var path *fs.PathError
	var held *journal.InUseError
	var failed *failure.Error
	var exit *ui.ExitError
	switch {
	case errors.As(err, &failed), errors.As(err, &exit):
		return err
	case errors.Is(err, journal.ErrFull), errors.Is(err, journal.ErrCorrupt), errors.As(err, &path), errors.As(err, &held):
		return failure.Infra(err)
	}
	return failure.Usagef("%w", err) // a duplicate or invalid name
}

// RunNames documents RUN, for --help.
const RunNames = `RUN is a run id, a unique prefix of one, or "last" for the latest run.`

// NewRunID returns the id of a new run: that of --run-id, or else one made from
// the time.
func NewRunID(given string) (string, error) {
	switch given {
	case "":
		return runs.NewID(time.Now()), nil
	case runs.Latest:
		return "", failure.Usagef("--run-id cannot be %q, which means the latest run; use another id", runs.Latest)
	}
	return given, nil
}
