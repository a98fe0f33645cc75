package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/fspath"
)

// The bounds of the search for homes: folders below the working folder, and
// folders read in all.
const (
	nearDepth   = 3
	nearFolders = 1000
)

// homesNear lists the homes below and above a folder that have a part: runs,
// evals or memory. Hidden folders and node_modules are not searched, links are
// not followed. The nearest come first.
func homesNear(dir, part string) []string {
	var homes []string
	look := func(dir string) {
		home := filepath.Join(dir, homeName)
		if entries, err := os.ReadDir(filepath.Join(home, part)); err == nil && len(entries) > 0 {
			homes = append(homes, home)
		}
	}
	level, read := []string{dir}, 0
	for range nearDepth {
		var below []string
		for _, parent := range level {
			if read++; read > nearFolders {
				break
			}
			entries, _ := os.ReadDir(parent) // one that cannot be read has no home to offer
			for _, e := range entries {
				if searched(e) {
					below = append(below, filepath.Join(parent, e.Name()))
				}
			}
		}
		for _, d := range below {
			look(d)
		}
		level = below
	}
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		look(at)
		if filepath.Dir(at) == at {
			return homes
		}
	}
}

func searched(e fs.DirEntry) bool {
	return e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules"
}

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
	own := filepath.Join(specfs.Root(here), homeName)
	return slices.DeleteFunc(homesNear(here, part), func(h string) bool { return fspath.Same(h, own) })
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
