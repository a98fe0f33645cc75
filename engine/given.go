package engine

import "time"

// ViewOf is what a node would see in a state that is given, not run into:
// res in the shape of a result, all of it optional.
func ViewOf(p *Program, in Input, res *Result, history []Interaction, started time.Time) View {
	st := State{
		Parameters: in.Parameters, History: history, Plan: res.Plan, Steps: res.Steps,
		Executed: len(res.Steps), Usage: res.Usage, Warnings: res.Warnings,
	}
	st.Question, _ = in.Parameters["question"].(string)
	for i := range st.Plan.Steps {
		if st.Plan.Steps[i].ID == "" {
			st.Plan.Steps[i].ID = numberedStep(i)
		}
	}
	for i := range st.Steps {
		rec := &st.Steps[i]
		if rec.ID == "" {
			rec.ID = numberedStep(i)
		}
		if rec.Status == "" {
			rec.Status = StepOK
		}
		rec.Attempts = max(rec.Attempts, 1)
		st.last = rec.ID
		if st.position(rec.ID) < 0 {
			st.Plan.Steps = append(st.Plan.Steps, Step{ID: rec.ID, Goal: rec.Goal})
		}
	}
	v := View{Program: p, State: st, Started: started, Files: in.Files, Elapsed: time.Duration(res.DurationMS) * time.Millisecond}
	if res.StopReason.Code != "" {
		v.Stop = &res.StopReason
	}
	return v
}
