package main

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/homedir"
)

// runsHere is the ids of the runs that commands find without --home, for shells
// that complete them; none when there is no home.
func runsHere() []string {
	dir := os.Getenv("PEX_HOME")
	if dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return nil
		}
		dir = filepath.Join(specfs.Root(here), homedir.FolderName)
	}
	if _, err := os.Stat(filepath.Join(dir, "runs")); err != nil {
		return nil // OpenHome would make it
	}
	home, err := journal.OpenHome(dir, journal.Exit)
	if err != nil {
		return nil
	}
	ids, err := home.List()
	if err != nil {
		return nil
	}
	return ids
}
