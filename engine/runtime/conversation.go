package runtime

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// lastReplies holds the latest model replies of a run, to find the one that produced the
// answer.
type lastReplies struct {
	scope  *scope                  // of the last call made outside of steps
	reply  *model.Reply            // reply to that call
	steps  map[string]*model.Reply // last reply of each step
	answer *engine.ConversationMessage
}

// recordReply stores the reply to a call made in the scope.
func (sp *lastReplies) recordReply(s *scope, c *model.Call, r *model.Reply) {
	if c.StepID == "" {
		sp.scope, sp.reply = s, r
		return
	}
	if sp.steps == nil {
		sp.steps = map[string]*model.Reply{}
	}
	sp.steps[c.StepID] = r
}

// recordAnswer sets the reply that produced an answer: the last one in the scope that
// records the answer, or that of the last step if its result is the answer.
func (sp *lastReplies) recordAnswer(s *scope, a engine.Answer) {
	reply, path := sp.reply, s.Path()
	if reply == nil || sp.scope.Path() != path {
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

// finalToolUses returns the tool calls of the last turn that made any.
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

// recordDecision collects the decisions of the run and of its nested runs.
func (r *run) recordDecision(d kernel.Decision) {
	rec := d.Record
	out := engine.DecisionRecord{Path: rec.Path}
	if rec.WallTime != 0 {
		out.At = time.Unix(0, rec.WallTime).UTC()
	}
	if len(rec.By) > 0 {
		out.By = decodeLenient[*engine.Actor](rec.By)
	}
	switch {
	case rec.Kind == journal.Cancel:
		out.Kind, out.Do = "cancel", "cancel"
	case rec.Kind == journal.Change:
		out.Kind, out.Do = "limits", "extend"
		out.Text = strings.Join(decodeLenient[changeBody](rec.Body).Set, " ")
	case rec.Kind == journal.Answer:
		inline := decodeLenient[inlineAnswer](rec.Body)
		fromAnswer(&out, inline.Question, inline.Decision)
	case d.Class == journal.Question:
		fromAnswer(&out, decodeLenient[interrupt.Question](d.Request), decisionOf(rec))
	default:
		q := decodeLenient[interrupt.Question](d.Request) // tool and arguments
		out.Kind, out.Tool, out.Args = string(interrupt.Review), q.Tool, q.Args
		fromReview(&out, rec)
	}
	if out.ChangesRun() {
		r.permissions.AddAuthor(out.By)
	}
	r.decisions = append(r.decisions, out)
}

// receiveMessage adds a message, new or replayed, to the state of the run.
func (r *run) receiveMessage(m Message, at time.Time) {
	msg := engine.UserMessage{ID: m.ID, Text: m.Text, At: at, Interrupt: m.Interrupt}
	if len(m.By) > 0 {
		msg.By = decodeLenient[*engine.Actor](m.By)
	}
	r.permissions.AddAuthor(msg.By)
	if r.top == nil {
		r.arrived = append(r.arrived, msg)
		return
	}
	r.top.Record(engine.MessageReceived{Message: msg})
}

// fromAnswer sets the fields of a decision about a question.
func fromAnswer(d *engine.DecisionRecord, q interrupt.Question, decision interrupt.Decision) {
	d.Kind, d.Tool, d.Args, d.Question = string(q.Kind), q.Tool, q.Args, q.Question
	d.Do, d.Reason, d.Edit, d.Text = decision.Do, decision.Reason, decision.Edit, decision.Text
}

// fromReview sets the fields of a decision about a write whose outcome is unknown.
func fromReview(d *engine.DecisionRecord, rec *journal.Record) {
	switch {
	case rec.Kind == journal.Redo:
		d.Do = "redo"
	case rec.Status == journal.Skipped:
		d.Do = "skip"
	default:
		d.Do = "done"
		out := decodeLenient[tool.Output](rec.Body)
		d.Result = jsonvalue.Encode(out.Value())
	}
}

// decisionOf returns the decision in a result record. An in-memory journal holds the
// value itself.
func decisionOf(rec *journal.Record) interrupt.Decision {
	if d, ok := rec.Value.(interrupt.Decision); ok {
		return d
	}
	return decodeLenient[interrupt.Decision](rec.Body)
}

// inlineAnswer is an answer given during a tool call.
type inlineAnswer struct {
	Question interrupt.Question `json:"question"`
	Decision interrupt.Decision `json:"decision"`
}

// decodeLenient decodes JSON as far as it fits T: recorded data is shown, not validated.
func decodeLenient[T any](b []byte) (v T) {
	_ = json.Unmarshal(b, &v)
	return v
}
