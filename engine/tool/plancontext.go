package tool

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// PlanContext describes the plan around a guided call and the results of earlier steps.
// Tools receive it as data; it contains model and tool output.
type PlanContext struct {
	Objective string            `json:"objective"`
	Goal      string            `json:"goal"`              // of the calling step
	Context   string            `json:"context,omitempty"` // the planner's notes on the step
	Success   string            `json:"success,omitempty"` // the step's success criterion
	Plan      []PlanContextStep `json:"plan"`
	Truncated bool              `json:"truncated,omitempty"` // results or the plan were omitted to fit a limit

	Text string `json:"-"` // the same for models
}

// PlanContextStep is a step of a PlanContext.
type PlanContextStep struct {
	ID     string `json:"id"`
	Goal   string `json:"goal"`
	Status string `json:"status"`           // pending, current, or how the step ended
	Result string `json:"result,omitempty"` // of the newest steps
}

// JSON encodes c within max bytes: it omits the results of the oldest steps first, then
// the plan, then everything. It returns nil for a nil c.
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
