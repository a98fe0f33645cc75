package evalcmd

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/internal/watch"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/failure"
)

// evalWatch holds the state shared by the evaluations of one --watch. It is nil
// without --watch.
type evalWatch struct {
	c      *call
	limit  float64             // USD for all evaluations; 0 for none
	spent  float64             // USD so far
	trials int                 // number of trials that cost it
	cases  map[string][32]byte // digests of the cases in the last evaluation; nil if there was none
	next   map[string][32]byte // digests of the cases in the next evaluation
	failed map[string]bool     // cases that have not passed since they failed
}

// watchSuite evaluates a suite again whenever a file changes.
func watchSuite(c *call) error {
	for _, name := range []string{"id", "resume", "dry-run", "failing", "shard"} {
		if c.IsSet(name) {
			return failure.Usagef("--watch and --%s exclude each other", name)
		}
	}
	w := &evalWatch{c: c, limit: c.maxCost}
	return watch.Run(c.Call, func([]string) error {
		if w.limit > 0 {
			if err := c.SetFlag("max-cost", fmt.Sprint(w.limit-w.spent)); err != nil {
				return failure.Infra(err)
			}
			c.flags = readFlags(c.Call)
		}
		err := evalOnce(c, w)
		w.summary()
		if w.limit > 0 && w.limit-w.spent < w.mean() {
			return &watch.EndError{Err: failure.Usagef("--watch ends: $%.4f of $%.4f are spent, and one more trial is likely to exceed --max-cost", w.spent, w.limit)}
		}
		return err
	})
}

// selectCases keeps only the cases that failed, and those added or changed since; if
// there are none, it keeps all.
func (w *evalWatch) selectCases(e *evaluation) error {
	if w == nil {
		return nil
	}
	c := e.c.Call
	c.RecordRead(e.Dataset.File)
	now := map[string][32]byte{}
	pick := map[string]bool{}
	for k, err := range e.source.Cases() {
		if err != nil {
			return e.wrongDataset(err)
		}
		b, err := json.Marshal(k.Row)
		if err != nil {
			return e.wrongDataset(err)
		}
		now[k.ID] = sha256.Sum256(b)
		if w.failed[k.ID] || w.cases != nil && w.cases[k.ID] != now[k.ID] {
			pick[k.ID] = true
		}
	}
	w.next = now
	if len(pick) > 0 {
		e.filter.Only = func(id string) bool { return pick[id] }
		e.filter.Why = "that failed or changed"
	}
	return nil
}

// mean returns the average cost of a trial in USD.
func (w *evalWatch) mean() float64 { return w.spent / float64(max(1, w.trials)) }

// checkBudget rejects an evaluation that may cost money without a limit, and prints the
// likely cost of the next one.
func (w *evalWatch) checkBudget(e *evaluation) error {
	if w == nil {
		return nil
	}
	if w.limit == 0 {
		w.limit = e.Limits.MaxCost
	}
	if w.limit == 0 && e.costs() {
		return &watch.EndError{Err: failure.Usagef("--watch calls models after every change: bound what that costs in all by --max-cost USD")}
	}
	if w.trials > 0 && w.spent > 0 {
		ui.Logf(w.c.Call, "running %s of %s, about $%.4f", ui.Count(e.trials(), "trial"), ui.Count(e.total, "case"), w.mean()*float64(e.trials()))
	}
	return nil
}

// costs reports whether a trial costs money. For an LLM without a price that is
// unknown, and no budget can be enforced.
func (e *evaluation) costs() bool {
	if j := e.Judge; j != nil && !j.Model.Offline() && j.Model.Cost != nil && *j.Model.Cost != (model.Cost{}) {
		return true
	}
	return slices.ContainsFunc(e.specs, (*dsl.Spec).CostsMoney)
}

// recordOutcome records the outcome of an evaluation.
func (w *evalWatch) recordOutcome(e *evaluation) {
	if w == nil {
		return
	}
	w.cases = w.next
	rows, err := batch.OpenRows(filepath.Join(project.EvalsDir(e.home), e.id))
	if err != nil {
		return // no trial ran
	}
	outcome := map[string]bool{} // by case: whether a trial did not pass
	for row, err := range rows() {
		if err != nil {
			break
		}
		outcome[row.Case] = outcome[row.Case] || row.Outcome == trial.Failed || row.Outcome == trial.Errored
		w.trials++
		w.spent += row.Run.Cost
		for i := range row.Marks {
			w.spent += row.Marks[i].Cost
		}
	}
	if w.failed == nil {
		w.failed = map[string]bool{}
	}
	for id, failed := range outcome {
		if delete(w.failed, id); failed {
			w.failed[id] = true
		}
	}
}

// summary prints what the next change runs, and what was spent.
func (w *evalWatch) summary() {
	switch {
	case w.cases == nil || w.trials == 0:
		return
	case len(w.failed) > 0:
		ui.Logf(w.c.Call, "%s failed; the next change runs only what failed or changed", ui.Count(len(w.failed), "case"))
	default:
		ui.Logf(w.c.Call, "no case failed; the next change runs all cases")
	}
	switch {
	case w.limit > 0:
		ui.Logf(w.c.Call, "spent $%.4f of $%.4f since --watch began", w.spent, w.limit)
	case w.spent > 0:
		ui.Logf(w.c.Call, "spent $%.4f since --watch began", w.spent)
	}
}
