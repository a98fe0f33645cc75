package storecmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

func storeGCCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "gc", Usage: "Delete old runs and reclaim disk space",
		Description: ui.Help("Deletes runs that ended. Keeps runs that are waiting or can be resumed, unless --all is given. Always keeps runs that are running or damaged. Also deletes artifacts (files that clients of pexctl serve uploaded) that no run uses and that are more than a day old.",
			"pexctl store gc # Only reclaim disk space",
			"pexctl store gc --older-than 30d --dry-run # Show what would be removed",
			"pexctl store gc --older-than 30d --keep 100 # Keep at least the newest 100",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "older-than", Usage: "Delete runs that last changed more than `AGE` ago, such as 90m, 12h or 30d"},
			&cli.IntFlag{Name: "keep", Value: -1, Usage: "Keep the newest `N` of the runs that would be deleted", DefaultText: "none"},
			&cli.BoolFlag{Name: "all", Usage: "Also delete runs that have not ended"},
			&cli.BoolFlag{Name: "dry-run", Usage: "Only print what would be removed"},
			ui.OutputFlag(), project.HomeFlag(),
		},
		Action: env.Action(withFlags(storeGC)),
	}
}

// gcReport is the result of a gc.
type gcReport struct {
	Removed []string       `json:"removed"`
	Kept    map[string]int `json:"kept"` // number of runs by the reason for keeping them
	// Artifacts is the number of removed artifacts.
	Artifacts int   `json:"artifacts,omitempty"`
	Freed     int64 `json:"freed_bytes"`
	DryRun    bool  `json:"dry_run"`
}

func storeGC(c *call) error {
	rule, err := gcRuleOf(c)
	if err != nil {
		return err
	}
	home, err := openHomed(c)
	if err != nil {
		return err
	}
	r := gcReport{Removed: []string{}, Kept: map[string]int{}, DryRun: c.dryRun}
	if err := errors.Join(r.runs(home, rule), r.sweepArtifacts(home), r.cleanUp(c, home)); err != nil {
		return failure.Infra(err)
	}
	if c.JSON {
		return ui.PrintJSON(c.Call, r)
	}
	r.print(c)
	return nil
}

// gcRule selects the runs to remove.
type gcRule struct {
	before time.Time // last changed before; zero to ignore the age
	keep   int       // the number of newest runs to keep
	all    bool
	given  bool // a rule was given
}

func gcRuleOf(c *call) (gcRule, error) {
	r := gcRule{keep: max(0, c.keep), all: c.all, given: c.IsSet("keep")}
	if err := c.AtMost(0); err != nil {
		return r, err
	}
	if c.IsSet("keep") && c.keep < 0 {
		return r, failure.Usagef("invalid value %d for --keep; use a number of runs", c.keep)
	}
	r.before = time.Now()
	if text := c.olderThan; text != "" {
		age, err := ui.ParseAge(text)
		if err != nil {
			return r, failure.Usagef("invalid value %q for --older-than; use an age such as 90m, 12h or 30d", text)
		}
		r.before, r.given = r.before.Add(-age), true
	}
	if r.all && !r.given {
		return r, failure.Usagef("--all needs --older-than or --keep")
	}
	return r, nil
}

// runs removes the runs that the rule selects.
func (r *gcReport) runs(h *storeHome, rule gcRule) error {
	ids, err := h.list()
	if err != nil || !rule.given {
		r.Kept["not selected"] = len(ids)
		return err
	}
	var may []journal.Stat
	for _, id := range ids {
		st, err := h.runs.Stat(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			return err
		}
		if why := keepReason(st, rule); why != "" {
			r.Kept[why]++
			continue
		}
		may = append(may, st)
	}
	slices.SortFunc(may, func(a, b journal.Stat) int {
		return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(b.Run, a.Run))
	})
	for i, st := range may {
		switch {
		case i < rule.keep:
			r.Kept["newest"]++
		case !st.Changed.Before(rule.before):
			r.Kept["young"]++
		default:
			if err := r.remove(h, st); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepReason returns the reason for keeping a run, or "".
func keepReason(st journal.Stat, rule gcRule) string {
	switch {
	case st.Open:
		return "held"
	case st.ReadError != nil:
		return "damaged"
	case !st.Ended && !rule.all:
		return "not ended"
	}
	return ""
}

func (r *gcReport) remove(h *storeHome, st journal.Stat) error {
	if !r.DryRun {
		err := h.runs.Remove(st.Run)
		var held *journal.InUseError
		switch {
		case errors.As(err, &held):
			r.Kept["held"]++
			return nil
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
	}
	r.Removed = append(r.Removed, st.Run)
	r.Freed += st.Bytes
	return nil
}

// cleanUp completes interrupted removals, and cleans up the memory.
func (r *gcReport) cleanUp(c *call, h *storeHome) error {
	if h.runs != nil {
		n, err := h.runs.Sweep(r.DryRun)
		if err != nil {
			return err
		}
		r.Freed += n
	}
	if r.DryRun {
		return nil
	}
	if err := errors.Join(sweepRestores(h.dir), sweepMarks(h)); err != nil {
		return err
	}
	memory := project.OpenMemory(c.Call, h.memoryDir())
	m, err := memory.GC(c.Context)
	err = errors.Join(err, memory.Close())
	if err != nil {
		return err
	}
	r.Freed += max(0, m.Before-m.After)
	return nil
}

// restoreAge is the age from which the folder of a restore counts as left behind
// by a killed one.
const restoreAge = time.Hour

func sweepRestores(home string) error {
	left, err := filepath.Glob(filepath.Join(home, ".*restoring-*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > restoreAge {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *gcReport) print(c *call) {
	w := c.Stdout
	did := "removed"
	if r.DryRun {
		did = "would remove"
	}
	for _, id := range r.Removed {
		fmt.Fprintln(w, did, id)
	}
	var kept []string
	total := 0
	for _, why := range slices.Sorted(maps.Keys(r.Kept)) {
		if n := r.Kept[why]; n > 0 {
			total += n
			kept = append(kept, fmt.Sprintf("%d %s", n, why))
		}
	}
	what := ui.Count(len(r.Removed), "run")
	if r.Artifacts > 0 {
		what += " and " + ui.Count(r.Artifacts, "artifact")
	}
	fmt.Fprintf(w, "%s %s, %s; %s", did, what, ui.Bytes(r.Freed), ui.Count(total, "run")+" stay")
	if len(kept) > 0 {
		fmt.Fprintf(w, " (%s)", strings.Join(kept, ", "))
	}
	fmt.Fprintln(w)
}
