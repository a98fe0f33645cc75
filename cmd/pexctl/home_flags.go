package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/dsl/specfs"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/homedir"
)

// elsewhere is a hint that names the homes near the working folder and the flag
// that selects the nearest; "" = there are none, or the caller chose a home.
func elsewhere(c *ui.Call, part string) string {
	var shown []string
	for _, h := range othersNear(c, part) {
		shown = append(shown, fspath.Relative(h))
	}
	if len(shown) == 0 {
		return ""
	}
	return fmt.Sprintf("%s has %s: add --home %s", ui.List(shown[:min(len(shown), 5)]), partNames[part], fspath.Quote(shown[0]))
}

// partNames is what people call the parts of a home.
var partNames = map[string]string{"runs": "runs", "evals": "evaluations", "memory": "conversations"}

// othersNear is homesNear but for the home that the command works in. It is
// empty where --home or $PEX_HOME chose that.
func othersNear(c *ui.Call, part string) []string {
	if c.String("home") != "" || os.Getenv("PEX_HOME") != "" {
		return nil
	}
	here, err := os.Getwd()
	if err != nil {
		return nil
	}
	own := filepath.Join(specfs.Root(here), homedir.FolderName)
	return slices.DeleteFunc(homedir.Near(here, part), func(h string) bool { return fspath.Same(h, own) })
}

// homeWith is a home near the working folder that has a run of this id; "" =
// none has.
func homeWith(c *ui.Call, run string) string {
	for _, dir := range othersNear(c, "runs") {
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
