package engine

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// Actor is who makes decisions. The journal keeps it with each of them.
type Actor struct {
	User string `json:"user,omitempty"` // name of the account that the process runs as
	Host string `json:"host,omitempty"` // name of the machine
}

// String is user@host, or the part of it that is known.
func (a Actor) String() string {
	if a.User == "" || a.Host == "" {
		return a.User + a.Host
	}
	return a.User + "@" + a.Host
}

// journaledActor is an actor as the journal keeps it; nil = not known.
func journaledActor(a Actor) json.RawMessage {
	if a == (Actor{}) {
		return nil
	}
	return encoded(a)
}

// DecisionRecord is a decision of a person as the journal keeps it: an answer
// to a question, what becomes of a write whose outcome is unknown, other
// limits, or the end of the run.
type DecisionRecord struct {
	At       time.Time       `json:"at,omitzero"`        // wall time; zero = the journal does not say
	By       *Actor          `json:"by,omitempty"`       // nil = the journal does not say
	Path     string          `json:"path,omitempty"`     // of the question or write; "" = it is about the run
	Kind     string          `json:"kind"`               // an InterruptKind; or cancel or limits, which nobody asked for
	Tool     string          `json:"tool,omitempty"`     // that was to be called,
	Args     json.RawMessage `json:"args,omitempty"`     // and its arguments, or the plan, as they were asked about
	Question string          `json:"question,omitempty"` // in words
	// Do is approve, deny, edit or text; done, redo or skip of a write; cancel;
	// or extend of limits.
	Do     string          `json:"do"`
	Reason string          `json:"reason,omitempty"`
	Edit   json.RawMessage `json:"edit,omitempty"`   // edit: the arguments or plan used instead
	Text   string          `json:"text,omitempty"`   // text: the answer; extend: what was set
	Result json.RawMessage `json:"result,omitempty"` // done: what the tool gave
}

// recordDecision collects the decisions of the run and of the agents within it.
func (r *run) recordDecision(d kernel.Decision) {
	rec := d.Record
	out := DecisionRecord{Path: rec.Path}
	if rec.Wall != 0 {
		out.At = time.Unix(0, rec.Wall).UTC()
	}
	if len(rec.By) > 0 {
		out.By = parsed[*Actor](rec.By)
	}
	switch {
	case rec.Kind == journal.Cut:
		out.Kind, out.Do = "cancel", "cancel"
	case rec.Kind == journal.Change:
		out.Kind, out.Do = "limits", "extend"
		out.Text = strings.Join(parsed[changeBody](rec.Body).Set, " ")
	case rec.Kind == journal.Answer:
		told := parsed[midAnswer](rec.Body)
		fromAnswer(&out, told.Question, told.Decision)
	case d.Class == journal.Question:
		fromAnswer(&out, parsed[Question](d.Request), decisionOf(rec))
	default:
		q := parsed[Question](d.Request) // tool and arguments
		out.Kind, out.Tool, out.Args = string(AskReview), q.Tool, q.Args
		fromReview(&out, rec)
	}
	r.decisions = append(r.decisions, out)
}

// fromAnswer fills in the decision about a question.
func fromAnswer(d *DecisionRecord, q Question, said Decision) {
	d.Kind, d.Tool, d.Args, d.Question = string(q.Kind), q.Tool, q.Args, q.Question
	d.Do, d.Reason, d.Edit, d.Text = said.Do, said.Reason, said.Edit, said.Text
}

// fromReview fills in the decision about a write whose outcome is unknown.
func fromReview(d *DecisionRecord, rec *journal.Record) {
	switch {
	case rec.Kind == journal.Redo:
		d.Do = "redo"
	case rec.Status == journal.Skipped:
		d.Do = "skip"
	default:
		d.Do = "done"
		out := parsed[ToolOutput](rec.Body)
		d.Result = encoded(out.value())
	}
}

// decisionOf is the answer in a result; a journal in memory keeps it as it is.
func decisionOf(rec *journal.Record) Decision {
	if d, ok := rec.Value.(Decision); ok {
		return d
	}
	return parsed[Decision](rec.Body)
}

// midAnswer is an answer that was given in the middle of a call.
type midAnswer struct {
	Question Question `json:"question"`
	Decision Decision `json:"decision"`
}

// parsed reads JSON as far as it fits: what was recorded is shown, not checked.
func parsed[T any](b []byte) (v T) {
	_ = json.Unmarshal(b, &v)
	return v
}
