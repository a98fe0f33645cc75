package engine

// ConversationMessage is a message as a result shows it. A model's own message
// also says which model wrote it, why it stopped and what it consumed.
type ConversationMessage struct {
	Message
	Path       string   `json:"path"`                  // of the node or step that sent or received it
	ID         string   `json:"id,omitempty"`          // the provider's id of the reply
	Model      string   `json:"model,omitempty"`       // the model that answered, as the provider names it
	StopReason StopKind `json:"stop_reason,omitempty"` // why the model stopped
	Usage      *Tokens  `json:"usage,omitempty"`
}

// shownMessage is m with what is known of the reply it came from.
func shownMessage(m Message, path string) ConversationMessage {
	out := ConversationMessage{Message: m, Path: path}
	if r := m.Reply; r != nil {
		out.ID, out.Model, out.StopReason, out.Usage = r.ID, r.Model, r.Stop, &r.Usage
	}
	return out
}

// FinalToolUse is a tool call of the last turn that called tools.
type FinalToolUse struct {
	ID string `json:"id,omitempty"` // the model's id of the call
	ToolRecord
}

// spoken are the last replies of a run, to find the one that gave its answer.
type spoken struct {
	path   string            // of the scope that made the last call outside of steps
	reply  *Reply            // of that call
	steps  map[string]*Reply // the last of each step
	answer *ConversationMessage
}

// replied notes a reply to a call made in the scope.
func (sp *spoken) replied(s *scope, c ModelCall, r *Reply) {
	if c.StepID == "" {
		sp.path, sp.reply = s.Path(), r
		return
	}
	if sp.steps == nil {
		sp.steps = map[string]*Reply{}
	}
	sp.steps[c.StepID] = r
}

// answered notes who wrote an answer: the call that the node recording it made
// last, or the last step where the answer is that step's result.
func (sp *spoken) answered(s *scope, a Answer) {
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
		m := shownMessage(Message{Role: Assistant, Text: Text{a.Text}, Reply: reply}, path)
		sp.answer = &m
	}
}

// finalToolUses are the tool calls of the last turn that made any.
func finalToolUses(steps []StepRecord) []FinalToolUse {
	out := []FinalToolUse{}
	for i := len(steps) - 1; i >= 0 && len(out) == 0; i-- {
		calls := steps[i].ToolCalls
		from := len(calls)
		for from > 0 && calls[from-1].turn == calls[len(calls)-1].turn {
			from--
		}
		for _, c := range calls[from:] {
			out = append(out, FinalToolUse{c.callID, c})
		}
	}
	return out
}
