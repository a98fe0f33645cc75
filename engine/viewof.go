package engine

import (
	"time"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/plan"
)

// ViewOf returns the view of a node in a given state rather than a run's: res has the
// form of a result, all of it optional.
func ViewOf(p *Program, in Input, res *Result, history []memory.Interaction, started time.Time) View {
	st := State{
		Parameters: in.Parameters, History: history, Plan: res.Plan, Steps: res.Steps,
		Executed: len(res.Steps), Usage: res.Usage, Warnings: res.Warnings, UserMessages: res.Messages,
	}
	st.Question, _ = in.Parameters["question"].(string)
	for i := range st.Plan.Steps {
		if st.Plan.Steps[i].ID == "" {
			st.Plan.Steps[i].ID = plan.NumberedID(i)
		}
	}
	for i := range st.Steps {
		rec := &st.Steps[i]
		if rec.ID == "" {
			rec.ID = plan.NumberedID(i)
		}
		if rec.Status == "" {
			rec.Status = plan.OK
		}
		rec.Attempts = max(rec.Attempts, 1)
		st.LastEnded = rec.ID
		if st.Position(rec.ID) < 0 {
			st.Plan.Steps = append(st.Plan.Steps, plan.Step{ID: rec.ID, Goal: rec.Goal})
		}
	}
	v := View{Program: p, State: st, Started: started, Files: in.Files, Elapsed: time.Duration(res.DurationMS) * time.Millisecond}
	if res.StopReason.Code != "" {
		v.Stop = &res.StopReason
	}
	return v
}
