package tool

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// PlanContext says where in the plan a guided call is made, and what the steps
// before it returned. Tools receive it as data; it holds model and tool output.
type PlanContext struct {
	Objective string            `json:"objective"`
	Goal      string            `json:"goal"`              // of the step that makes the call
	Context   string            `json:"context,omitempty"` // what the planner wrote beside the goal
	Success   string            `json:"success,omitempty"` // the step's success criterion
	Plan      []PlanContextStep `json:"plan"`
	Truncated bool              `json:"truncated,omitempty"` // results, or the plan, were left out to fit a bound

	Text string `json:"-"` // the same for a model to read
}

// PlanContextStep is a step of the plan as tools see it.
type PlanContextStep struct {
	ID     string `json:"id"`
	Goal   string `json:"goal"`
	Status string `json:"status"`           // pending, current, or how the step ended
	Result string `json:"result,omitempty"` // of the newest steps
}

// JSON encodes c within max bytes: the results of the oldest steps are left out
// first, then the plan, then all. It is nil for a nil c.
func (c *PlanContext) JSON(max int) json.RawMessage {
	if c == nil {
		return nil
	}
	out := *c
	out.Plan = append([]PlanContextStep{}, c.Plan...)
	b := jsonvalue.Encode(out)
	for i := range out.Plan {
		if len(b) <= max {
			return b
		}
		if out.Plan[i].Result != "" {
			out.Plan[i].Result, out.Truncated = "", true
			b = jsonvalue.Encode(out)
		}
	}
	if len(b) > max {
		out.Plan, out.Truncated = []PlanContextStep{}, true
		b = jsonvalue.Encode(out)
	}
	if len(b) > max {
		return jsonvalue.Encode(PlanContext{Plan: []PlanContextStep{}, Truncated: true})
	}
	return b
}
