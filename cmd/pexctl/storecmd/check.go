package storecmd

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

func storeCheckCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "Verify runs, evaluations, trust and memory; exit with 3 if anything is damaged",
		Description: ui.Help("Changes nothing without --repair, which keeps a copy of the damaged journal in the run's folder, as journal.jsonl.damaged-N.",
			"pexctl store check",
			"pexctl store check -o json | jq '.findings[] | select(.damage)'",
			"pexctl store check --repair r-20260102-150405-1a2b3c # Keep the records before the damage",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "repair", Usage: "Repair the damaged run `RUN` by keeping the records before the damage"},
			ui.OutputFlag(), project.HomeFlag(),
		},
		Action: env.Action(withFlags(storeCheck), 0),
	}
}

// checkReport is the result of a check.
type checkReport struct {
	Home  string `json:"home"`
	Runs  int    `json:"runs"`
	Evals int    `json:"evals"`
	// Artifacts is the number of uploaded files.
	Artifacts int       `json:"artifacts,omitempty"`
	Memory    bool      `json:"memory"` // it exists and was checked
	Findings  []finding `json:"findings"`
}

// finding is one problem with its fix.
type finding struct {
	Run    string `json:"run,omitempty"`
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Byte   int    `json:"byte,omitempty"` // where the line starts
	What   string `json:"what"`
	Fix    string `json:"fix"`
	Damage bool   `json:"damage"` // data is lost or cannot be read
}

func storeCheck(c *call) error {
	home, err := openHomed(c)
	if err != nil {
		return err
	}
	if run := c.repair; run != "" {
		return repairRun(c, home, run, c.JSON)
	}
	r := checkReport{Home: home.dir, Findings: []finding{}}
	if err := errors.Join(r.checkRuns(c, home), r.checkEvals(home), r.checkArtifacts(c, home), r.checkMemory(c, home)); err != nil {
		return failure.Infra(err)
	}
	if c.JSON {
		err = ui.PrintJSON(c.Call, r)
	} else {
		r.print(c)
	}
	if err == nil && r.damaged() > 0 {
		err = ui.Exit(ui.ExitInfra, nil)
	}
	return err
}

func (r *checkReport) checkRuns(c *call, h *storeHome) error {
	if h.runs == nil {
		return nil
	}
	ids, err := h.runs.List()
	if err != nil {
		return err
	}
	r.Runs = len(ids)
	return h.runs.CheckAll(func(f journal.Finding) bool {
		r.Findings = append(r.Findings, finding{f.Run, f.File, f.Line, f.Byte, f.What, fixOf(c, f), f.Damage})
		return c.Context.Err() == nil
	})
}

// fixOf explains how to fix a finding.
func fixOf(c *call, f journal.Finding) string {
	switch f.Remedy {
	case journal.ByRepair:
		repair := project.Command(c.Call, "store", "check", "--repair", f.Run)
		if f.Damage {
			return fmt.Sprintf("to keep the %[2]s before it: %[1]s", repair, ui.Count(f.Line-1, "record"))
		}
		return "no record is lost; to rewrite the file: " + repair
	case journal.ByRestore:
		return "nothing can be recovered; restore a backup, or delete it: " + project.Command(c.Call, "runs", "rm", f.Run)
	case journal.BySweep:
		return "to finish: " + project.Command(c.Call, "store", "gc")
	case journal.ByUpgrade:
		return "use a newer pexctl"
	case journal.ByInspector:
		return "harmless; move it away if you do not need it"
	case journal.ByDeletion:
		return "what could be read was applied; compare these runs with a backup, then delete the directory"
	case journal.ByOperator, journal.NoRemedy:
	}
	return "check the file system and the permissions of the file"
}

func (r *checkReport) damaged() int {
	n := 0
	for _, f := range r.Findings {
		if f.Damage {
			n++
		}
	}
	return n
}

func (r *checkReport) print(c *call) {
	w := c.Stdout
	for _, f := range r.Findings {
		place := f.File
		if f.Line > 0 {
			place = fmt.Sprintf("%s:%d (byte %d)", f.File, f.Line, f.Byte)
		}
		kind := "note"
		if f.Damage {
			kind = "damage"
		}
		fmt.Fprintln(w, ui.Safe(w, fmt.Sprintf("%s: %s: %s; %s", place, kind, f.What, f.Fix)))
	}
	looked := contentText(r.Runs, r.Evals, r.Artifacts, r.Memory)
	verdict := "intact"
	if n := r.damaged(); n > 0 {
		verdict = ui.Count(n, "damage") + " found"
	}
	fmt.Fprintf(w, "%s: %s checked, %s\n", ui.Safe(w, r.Home), looked, verdict)
}

// repairReport is the result of a repair.
type repairReport struct {
	Run     string `json:"run"`
	Kept    int    `json:"kept"`
	Dropped int64  `json:"dropped_bytes"`
	Lost    uint64 `json:"lost_up_to,omitempty"` // the last record known to have been written
	Saved   string `json:"saved,omitempty"`
	Damage  string `json:"damage"`
}

func repairRun(c *call, h *storeHome, run string, wantJSON bool) error {
	if h.runs == nil {
		return failure.Usagef("run %s: no runs in %s", run, h.dir)
	}
	s, err := project.OpenHome(c.Call, h.dir)
	if err != nil {
		return err
	}
	if run, err = s.Find(run); err != nil {
		return project.RunError(c.Call, s, err)
	}
	r, err := h.runs.Repair(run)
	switch {
	case errors.Is(err, journal.ErrCorrupt):
		return failure.Infra(err)
	case errors.Is(err, fs.ErrNotExist):
		return failure.Usagef("%w in %s", err, h.dir)
	case err != nil:
		return project.StoreError(err)
	}
	if wantJSON {
		return ui.PrintJSON(c.Call, repairReport{r.Run, r.Kept, r.Dropped, r.Lost, r.Saved, r.Damage.Error()})
	}
	w := c.Stdout
	fmt.Fprintf(w, "run %s: kept %s, dropped %s", r.Run, ui.Count(r.Kept, "record"), ui.Bytes(r.Dropped))
	if r.Lost > 0 {
		fmt.Fprintf(w, "; lost records %d to %d", r.Kept+1, r.Lost)
	}
	if r.Saved != "" {
		fmt.Fprintf(w, "; damaged file kept as %s", ui.Safe(w, r.Saved))
	}
	fmt.Fprintln(w)
	return nil
}
