package testcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/internal/app/fspath"
)

// movedHint explains how to move golden files from the place that an earlier
// version used.
func movedHint(c *ui.Call, plan *testPlan, done *testOutcomes) {
	told := false
	for i, out := range done.outcomes {
		k := &plan.cases[i]
		missing := slices.ContainsFunc(out.Changes, func(ch golden.Change) bool { return ch.Kind == golden.Missing })
		if info, err := os.Stat(k.FormerGolden); k.FormerGolden == "" || !missing || err != nil || !info.IsDir() || fspath.Exists(k.Golden) {
			continue
		}
		way := "mv"
		if slices.ContainsFunc(plan.cases, func(other plannedCase) bool { return other.Golden == k.FormerGolden }) {
			way = "cp -r"
		}
		if !told {
			fmt.Fprintln(c.Stderr, "The golden files of a sub-agent's tests are now in a folder of their own. To move yours:")
			told = true
		}
		fmt.Fprintf(c.Stderr, "  mkdir -p %s && %s %s %s\n", fspath.Quote(fspath.Shown(filepath.Dir(k.Golden))), way, fspath.Quote(fspath.Shown(k.FormerGolden)), fspath.Quote(fspath.Shown(k.Golden)))
	}
}
