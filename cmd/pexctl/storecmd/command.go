package storecmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

// Command returns "pexctl store", for maintaining a home: its runs, and its
// memory.
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "store", Usage: "Check, back up, restore and garbage-collect runs and memory",
		Description: ui.Help("",
			"pexctl store check # Verify all runs",
			"pexctl store backup pex-backup.tar",
			"pexctl store gc --older-than 30d --dry-run # Show what would be removed",
		),
		Subcommands: []*cli.Command{
			storeCheckCommand(env), storeBackupCommand(env), storeRestoreCommand(env), storeGCCommand(env), memoryCheckCommand(env),
		},
	}
}

// storeHome is the home of a store command.
type storeHome struct {
	dir  string
	runs *journal.Home // nil if there is none
}

// memoryDir returns the folder of the home's memory; it need not exist. A memory
// elsewhere, by memory.path, does not belong to the home.
func (h *storeHome) memoryDir() string { return filepath.Join(h.dir, "memory") }

// openHomed opens the home if it exists, and does not create it.
func openHomed(c *call) (*storeHome, error) {
	dir, err := project.HomeHere(c.Call)
	if err != nil {
		return nil, err
	}
	h := &storeHome{dir: dir}
	if _, err := os.Stat(filepath.Join(dir, "runs")); errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if h.runs, err = journal.OpenHome(dir, journal.Sync); err != nil {
		return nil, failure.Infra(err)
	}
	return h, nil
}

// list returns the ids of the home's runs.
func (h *storeHome) list() ([]string, error) {
	if h.runs == nil {
		return nil, nil
	}
	ids, err := h.runs.List()
	if err != nil {
		return nil, failure.Infra(err)
	}
	return ids, nil
}

// untilSignal cancels the command's context at the first signal that suspends, so
// that no partial results remain; the second one ends the process.
func untilSignal(c *call) (stop func()) {
	c.Context, stop = ui.OnSignal(c.Context, func() {})
	return stop
}

// interrupted returns the error of a command that a signal may have stopped.
func interrupted(c *call, err error) error {
	if c.Context.Err() != nil {
		return ui.Exit(ui.SignalCode(context.Cause(c.Context)), err)
	}
	return failure.Infra(err)
}
