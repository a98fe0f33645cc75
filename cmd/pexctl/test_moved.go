package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/eval/golden"
)

// movedHint says how goldens are taken over that stand where those of their case
// stood before they had a folder of their own.
func movedHint(c *cli.Context, plan *testPlan, done *testsDone) {
	told := false
	for i, out := range done.outcomes {
		k := &plan.cases[i]
		missing := slices.ContainsFunc(out.Changes, func(ch golden.Change) bool { return ch.Kind == golden.Missing })
		if info, err := os.Stat(k.GoldenOnce); k.GoldenOnce == "" || !missing || err != nil || !info.IsDir() || exists(k.Golden) {
			continue
		}
		way := "mv"
		if slices.ContainsFunc(plan.cases, func(other plannedCase) bool { return other.Golden == k.GoldenOnce }) {
			way = "cp -r"
		}
		if !told {
			fmt.Fprintln(c.App.ErrWriter, "the goldens of an agent's tests have a folder of their own; to take over those that you have:")
			told = true
		}
		fmt.Fprintf(c.App.ErrWriter, "  mkdir -p %s && %s %s %s\n", quoted(shownPath(filepath.Dir(k.Golden))), way, quoted(shownPath(k.GoldenOnce)), quoted(shownPath(k.Golden)))
	}
}
