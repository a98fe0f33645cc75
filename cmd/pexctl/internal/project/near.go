package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/homedir"
)

// OtherHomes returns a hint with the homes near the working folder and the flag
// that selects the nearest. It returns "" if there are none, or if the user chose
// a home.
func OtherHomes(c *ui.Call, part string) string {
	var shown []string
	for _, h := range homesNear(c, part) {
		shown = append(shown, fspath.Relative(h))
	}
	if len(shown) == 0 {
		return ""
	}
	return fmt.Sprintf("there are %s in %s; add --home %s", partNames[part], ui.List(shown[:min(len(shown), 5)]), fspath.Quote(shown[0]))
}

// partNames are the names of the parts of a home in messages.
var partNames = map[string]string{"runs": "runs", "evals": "evaluations", "memory": "conversations"}

// homesNear returns the homes near the working folder except that of the command.
// It returns nil if --home or $PEX_HOME is set.
func homesNear(c *ui.Call, part string) []string {
	if c.Home != "" || os.Getenv("PEX_HOME") != "" {
		return nil
	}
	here, err := os.Getwd()
	if err != nil {
		return nil
	}
	own := filepath.Join(specfs.Root(here), homedir.FolderName)
	return slices.DeleteFunc(homedir.Nearby(here, part), func(h string) bool { return fspath.Same(h, own) })
}

// HomeWithRun returns a home near the working folder that has a run with this id,
// or "".
func HomeWithRun(c *ui.Call, run string) string {
	for _, dir := range homesNear(c, "runs") {
		home, err := journal.OpenHome(dir, journal.Exit)
		if err != nil {
			continue
		}
		if ids, err := home.List(); err == nil && slices.Contains(ids, run) {
			return dir
		}
	}
	return ""
}

// RunIDs returns the ids of the runs that commands find without --home, for shell
// completion.
func RunIDs() []string {
	dir := os.Getenv("PEX_HOME")
	if dir == "" {
		here, err := os.Getwd()
		if err != nil {
			return nil
		}
		dir = filepath.Join(specfs.Root(here), homedir.FolderName)
	}
	if _, err := os.Stat(filepath.Join(dir, "runs")); err != nil {
		return nil // OpenHome would create it
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
