package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/node/answer"
	"github.com/pexctl/pex/builtins/node/planning"
	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// turn asks a model for a plan or an answer until the reply is usable.
type turn struct {
	program     *engine.Program
	nodeID      string // ID of the node that asks
	format      string
	planRepairs int // repair requests left for invalid plans
	delivered   delivered
	last        bool // an answer is required; steps are not checked, because nothing will run them
}

func planTurn(x *values) turn {
	rules := x.plan()
	return turn{program: x.v.Program, nodeID: x.nodeID, format: rules.Format, planRepairs: rules.MaxRepairs, delivered: delivered(len(x.v.State.UserMessages))}
}

// outcome is a usable reply: steps or an answer.
type outcome struct {
	steps  []plan.Step
	answer *engine.Answer
	reply  exprenv.Reply
}

// complaint is the reason why a reply is not usable. answer is true if the answer is at
// fault; answers have their own repair limit.
type replyError struct {
	text   string
	answer bool
}

// ask calls the model and checks its reply. It sends back the errors of an invalid reply
// as often as the spec allows. A refusal is not retried. An answer counts only if no
// message of the user arrived meanwhile.
func (t turn) ask(s engine.Scope, role, llm string, messages []model.Message) (outcome, error) {
	plans, answers := t.planRepairs, 0
	if out := t.program.Output; out != nil {
		answers = out.MaxAttempts
	}
	interrupted := 0
	for n := 1; ; n++ {
		messages = t.delivered.extend(s, messages)
		r, err := s.Model(attemptPath("model", n), planCall(t.program, role, llm, t.format, messages))
		if isInterrupted(err) {
			interrupted++
			continue
		}
		if err != nil {
			return outcome{}, err
		}
		t.delivered.markSeen(s, true)
		recordExchange(s, messages, r)
		out, bad, err := t.read(s, r)
		if err == nil && bad.text == "" && out.answer != nil && t.delivered.lacks(s) {
			messages = again(messages, r, reconsider)
			continue
		}
		if err != nil || bad.text == "" {
			return out, err
		}
		left := &plans
		if bad.answer {
			left = &answers
		}
		why := bad
		if r.Stop == model.MaxTokens {
			why.text += " (" + truncationText(t.program, llm, r) + ")"
		}
		if n-interrupted == 2 || n-interrupted == 1 && *left == 0 {
			warnUnenforced(s, role, llm)
		}
		if *left == 0 {
			return outcome{}, unusableReply(role, why, r.Text)
		}
		*left--
		s.Record(engine.WarningAdded{Text: fmt.Sprintf("%s reply was invalid and was requested again: %s", role, why.text), Repair: engine.PlannerRetried})
		messages = again(messages, r, "Your reply is invalid:\n", bad.text, "\nReply again with one JSON object in the required format.")
	}
}

// again returns the conversation that continues with a reply and a request for another one.
func again(messages []model.Message, r *model.Reply, why ...string) []model.Message {
	return append(slices.Clip(messages),
		model.Message{Role: model.Assistant, Text: model.Text{excerpt(r.Text)}, Reply: r},
		model.Message{Role: model.User, Text: why})
}

// planCall returns the call that asks for a plan or an answer.
func planCall(p *engine.Program, role, llm, format string, messages []model.Message) model.Call {
	return model.Call{Role: role, LLM: llm, Messages: messages, Schema: planning.Schema(format, p.Output), Interruptible: true, Files: role == "planner"}
}

func attemptPath(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s.%d", name, n)
}

func unusableReply(role string, bad replyError, raw string) error {
	code, path := stop.PlannerInvalid, "planner.repair.max_attempts"
	if bad.answer {
		code, path = stop.OutputInvalid, "output.repair.max_attempts"
	}
	return stop.Fail(code, path, "invalid %s reply: %s\nThe reply was:\n%s", role, bad.text, excerpt(raw))
}

// excerpt returns the start and the end of a long text.
func excerpt(text string) string {
	const most = 16 << 10
	if len(text) <= most {
		return text
	}
	head, tail := strings.ToValidUTF8(text[:most*3/4], ""), strings.ToValidUTF8(text[len(text)-most/4:], "")
	return fmt.Sprintf("%s\n[%d bytes omitted]\n%s", head, len(text)-len(head)-len(tail), tail)
}

// listed joins the errors, up to as many as a model can use.
func joinErrors(wrong []string) string {
	const most = 20
	var b strings.Builder
	for i, w := range wrong {
		if i == most {
			fmt.Fprintf(&b, "\n- and %d more", len(wrong)-most)
			break
		}
		b.WriteString("\n- " + excerpt(w))
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// read parses a reply. If it is not usable, the complaint is the reason.
func (t turn) read(s engine.Scope, r *model.Reply) (outcome, replyError, error) {
	if r.Stop == model.Refusal || r.Stop == model.ContentFiltered || r.Stop == model.Guardrail {
		return outcome{}, replyError{}, stop.Fail(stop.Refused, "planner", "the model refused (%s): %s", r.Stop, r.Text)
	}
	if len(r.Calls) > 0 {
		return outcome{}, replyError{text: "it calls the tool " + r.Calls[0].Name + "; name tools in the steps, and the executor calls them"}, nil
	}
	p := reply.Parse(r.Text, reply.Options{Truncated: r.Stop == model.MaxTokens})
	if p.Repaired {
		s.Record(engine.WarningAdded{Text: "repaired a malformed JSON reply: " + strings.Join(p.Repairs, ", "), Repair: engine.ReplyRepaired})
	}
	for _, w := range p.Warnings {
		s.Record(engine.WarningAdded{Text: "planning reply: " + strings.ReplaceAll(w, "_", " ")})
	}
	switch p.Kind {
	case reply.Final:
		return t.readAnswer(s, r, p)
	case reply.Plan:
		return t.readPlan(s, r, p)
	case reply.Error: // described by Code and Message
	}
	if p.Code == reply.Refusal {
		return outcome{}, replyError{}, stop.Fail(stop.Refused, "planner", "the model refused: %s", r.Text)
	}
	return outcome{}, replyError{text: p.Message}, nil
}

func (t turn) readAnswer(s engine.Scope, r *model.Reply, p reply.Result) (outcome, replyError, error) {
	a, wrong := answer.Accept(s, p.Result, p.ResultValue)
	if wrong == "" && a.Text == "" {
		wrong = "the answer is empty" // edges ignore an empty answer
	}
	if wrong != "" {
		return outcome{}, replyError{text: wrong, answer: true}, nil
	}
	return outcome{answer: &a, reply: exprenv.Reply{Text: r.Text, Result: a.Text}}, replyError{}, nil
}

func (t turn) readPlan(s engine.Scope, r *model.Reply, p reply.Result) (outcome, replyError, error) {
	v := s.View()
	if most := planning.MaxSteps + len(v.State.Steps); len(p.Steps) > most { // before any work proportional to the number of steps
		return outcome{}, replyError{text: planning.TooLong(len(p.Steps))}, nil
	}
	remaining, done := planning.Unfinished(&v, toSteps(p.Steps))
	if len(done) > 0 {
		if len(remaining) == 0 && !t.last {
			return outcome{}, replyError{text: "all its steps are completed: return the remaining steps or the result"}, nil
		}
		s.Record(engine.WarningAdded{Text: "ignored completed steps that a reply repeats: " + strings.Join(done, ", "), Repair: engine.StepsDropped})
	}
	steps := planning.Number(&v, remaining)
	if !t.last {
		steps = planning.AddDependencies(steps)
		if wrong := planning.Check(s, &v, stepTools(&v, t.nodeID), t.format, steps); len(wrong) > 0 {
			return outcome{}, replyError{text: joinErrors(wrong)}, nil
		}
	}
	out := outcome{steps: steps, reply: exprenv.Reply{Text: r.Text, Steps: make([]string, 0, len(steps))}}
	for _, st := range steps {
		out.reply.Steps = append(out.reply.Steps, st.Goal)
	}
	return out, replyError{}, nil
}

func toSteps(in []reply.Step) []plan.Step {
	out := make([]plan.Step, len(in))
	for i, st := range in {
		out[i] = plan.Step(st)
	}
	return out
}
