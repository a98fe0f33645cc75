package runtime

import (
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
)

// spoken are the last replies of a run, to find the one that gave its answer.
type spoken struct {
	path   string                  // of the scope that made the last call outside of steps
	reply  *model.Reply            // of that call
	steps  map[string]*model.Reply // the last of each step
	answer *engine.ConversationMessage
}

// replied notes a reply to a call made in the scope.
func (sp *spoken) replied(s *scope, c *model.Call, r *model.Reply) {
	if c.StepID == "" {
		sp.path, sp.reply = s.Path(), r
		return
	}
	if sp.steps == nil {
		sp.steps = map[string]*model.Reply{}
	}
	sp.steps[c.StepID] = r
}

// answered notes who wrote an answer: the call that the node recording it made
// last, or the last step where the answer is that step's result.
func (sp *spoken) answered(s *scope, a engine.Answer) {
	reply, path := sp.reply, sp.path
	if reply == nil || s.Path() != path {
		reply, path = nil, ""
		if n := len(s.r.state.Steps); n > 0 && s.r.state.Steps[n-1].Result == a.Text {
			id := s.r.state.Steps[n-1].ID
			reply, path = sp.steps[id], joinPath(s.r.agent, "step."+id)
		}
	}
	sp.answer = nil
	if reply != nil {
		m := engine.ConversationMessageOf(model.Message{Role: model.Assistant, Text: model.Text{a.Text}, Reply: reply}, path)
		sp.answer = &m
	}
}

// finalToolUses are the tool calls of the last turn that made any.
func finalToolUses(steps []plan.StepRecord) []engine.FinalToolUse {
	out := []engine.FinalToolUse{}
	for i := len(steps) - 1; i >= 0 && len(out) == 0; i-- {
		calls := steps[i].ToolCalls
		from := len(calls)
		for from > 0 && calls[from-1].Turn == calls[len(calls)-1].Turn {
			from--
		}
		for _, c := range calls[from:] {
			out = append(out, engine.FinalToolUse{ID: c.CallID, Record: c})
		}
	}
	return out
}
