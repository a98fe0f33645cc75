package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/engine/journal"
)

// storeCommand is the care of a home: its runs, and the memory beside them.
func storeCommand() *cli.Command {
	return &cli.Command{
		Name: "store", Usage: "check, back up, restore and tidy up runs and memory",
		Description: examples(
			"pexctl store check                           # is every run whole?",
			"pexctl store backup pex-backup.tar",
			"pexctl store gc --older-than 30d --dry-run   # what would go",
		),
		Subcommands: []*cli.Command{
			storeCheckCommand(), storeBackupCommand(), storeRestoreCommand(), storeGCCommand(), memoryCheckCommand(),
		},
	}
}

// homed is the home that a command of the store works on.
type homed struct {
	dir  string
	runs *journal.Home // nil = there is none
}

// memoryDir is where the home's memory lies; it need not exist. A memory that
// memory.path moved elsewhere is not the home's.
func (h *homed) memoryDir() string { return filepath.Join(h.dir, "memory") }

// openHomed opens the home if there is one, and makes none.
func openHomed(c *cli.Context) (*homed, error) {
	dir, err := homeHere(c)
	if err != nil {
		return nil, err
	}
	h := &homed{dir: dir}
	if _, err := os.Stat(filepath.Join(dir, "runs")); errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if h.runs, err = journal.OpenHome(dir, journal.Sync); err != nil {
		return nil, infra(err)
	}
	return h, nil
}

// list is the ids of the home's runs.
func (h *homed) list() ([]string, error) {
	if h.runs == nil {
		return nil, nil
	}
	ids, err := h.runs.List()
	if err != nil {
		return nil, infra(err)
	}
	return ids, nil
}

// untilSignal cancels the command's context at the first signal that suspends, so
// that nothing half made stays behind; the second one ends the process.
func untilSignal(c *cli.Context) (stop func()) {
	c.Context, stop = onSignal(c.Context, func() {})
	return stop
}

// cutShort is the error of a command that a signal may have ended.
func cutShort(c *cli.Context, err error) error {
	if c.Context.Err() != nil {
		return &exitError{signalCode(context.Cause(c.Context)), err}
	}
	return infra(err)
}

// toTry is a command line for the home that this command was given.
func toTry(c *cli.Context, words ...string) string {
	line := "pexctl " + strings.Join(words, " ")
	if c.IsSet("home") {
		line += " --home " + quoted(c.String("home"))
	}
	return line
}

// humanBytes is a size for people.
func humanBytes(n int64) string {
	const k = 1000
	switch {
	case n < k:
		return fmt.Sprintf("%d B", n)
	case n < k*k:
		return fmt.Sprintf("%.1f kB", float64(n)/k)
	case n < k*k*k:
		return fmt.Sprintf("%.1f MB", float64(n)/k/k)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/k/k/k)
}
