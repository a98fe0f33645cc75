package evalcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/failure"
)

// showTrial shows the run of one trial, like `runs show`.
func showTrial(c *call, wantJSON bool) error {
	home, err := project.HomeHere(c.Call)
	if err != nil {
		return err
	}
	dir, err := pastFolder(home, c.Arg(0))
	if err != nil {
		return err
	}
	row, err := findTrial(dir, trial.Key{Case: c.caseID, Variant: c.variant, Repeat: c.trial})
	if err != nil {
		return err
	}
	run, err := readTrial(c, dir, row)
	if err != nil {
		return err
	}
	res := run.Result(c.Context)
	if !c.conversation {
		res.Conversation = nil
	}
	if wantJSON {
		return ui.PrintJSON(c.Call, res)
	}
	r := sink.Report{Result: res, Question: runs.Question(run.Start.Input), Now: time.Now(), Columns: ui.Columns(c.Stdout), Color: ui.UsesColor(c.Stdout)}
	fmt.Fprint(ui.Styled(c.Stdout), r.String())
	printMarks(c, row)
	if !c.conversation {
		return nil
	}
	return ui.PrintConversation(c.Stdout, run.Records)
}

// findTrial returns the row of a trial. A case of several variants requires the
// name of one.
func findTrial(dir string, key trial.Key) (*trial.Row, error) {
	rows, err := batch.OpenRows(dir)
	if err != nil {
		return nil, failure.Infra(err)
	}
	var variants, near []string
	for row, err := range rows() {
		switch {
		case err != nil:
			return nil, failure.Infra(err)
		case row.Key == key:
			return row, nil
		case row.Case == key.Case && row.Repeat == key.Repeat:
			variants = append(variants, row.Variant)
		case row.Repeat == 1:
			near = append(near, row.Case)
		}
	}
	switch {
	case len(variants) > 0:
		return nil, failure.Usagef("--case %s ran with the variants %s; add --variant", key.Case, ui.List(variants))
	case ui.Nearest(key.Case, near) != "":
		return nil, failure.Usagef("--case %s: no trial %d; did you mean %s?", key.Case, key.Repeat, ui.Nearest(key.Case, near))
	}
	return nil, failure.Usagef("--case %s: no trial %d in this evaluation", key.Case, key.Repeat)
}

// readTrial reads the run of a trial.
func readTrial(c *call, dir string, row *trial.Row) (*runs.Run, error) {
	recs, err := batch.Records(dir, row.Run.ID)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(recs) == 0 {
		return nil, failure.Usagef("the runs of this evaluation are not stored here: eval score made it from the rows of another")
	}
	if err != nil {
		return nil, failure.Infra(err)
	}
	start, err := runtime.ReadStart(recs)
	if err != nil {
		return nil, failure.Infra(err)
	}
	source, err := batch.ProgramSource(dir, start.Digest)
	if err != nil {
		return nil, failure.Infra(err)
	}
	r, err := project.RunsEnv(c.Call, "").Restore(recs, source)
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	return r, nil
}

// printMarks prints the results of the checks.
func printMarks(c *call, row *trial.Row) {
	w := c.Stdout
	fmt.Fprintf(w, "\nchecks: %s, score %.2f\n", row.Outcome, row.Score)
	if row.Fault != nil {
		fmt.Fprintf(w, "  %s\n", ui.Safe(w, string(row.Fault.Kind)+": "+row.Fault.Message))
	}
	for _, m := range row.Marks {
		sign := "✓"
		switch {
		case m.Error != "":
			sign = "!"
		case !m.Pass:
			sign = "✗"
		}
		fmt.Fprintf(w, "  %s %s\n", sign, ui.Safe(w, m.Check+": "+cmp.Or(m.Error, m.Message)))
	}
}
