package engine

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/kernel"
)

// Decision is a person's answer to a question.
type Decision struct {
	Do     string          `json:"do"` // approve, deny, edit or text
	Reason string          `json:"reason,omitempty"`
	Edit   json.RawMessage `json:"edit,omitempty"` // edit: the arguments or plan to use instead
	Text   string          `json:"text,omitempty"`
	Typed  string          `json:"typed,omitempty"` // approve, deny: the words of it
}

// Approved says whether what was asked may happen, as it is or as edited.
func (d Decision) Approved() bool { return d.Do == "approve" || d.Do == "edit" }

// ParseDecision reads an answer as a person types it: approve, deny[:why],
// edit:<json>, or any other text.
func ParseDecision(s string) Decision {
	word, rest, _ := strings.Cut(s, ":")
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "approve", "yes", "y":
		if rest == "" {
			return Decision{Do: "approve", Typed: s}
		}
	case "deny", "no", "n":
		return Decision{Do: "deny", Reason: strings.TrimSpace(rest), Typed: s}
	case "edit":
		if json.Valid([]byte(rest)) {
			return Decision{Do: "edit", Edit: json.RawMessage(rest)}
		}
	}
	return Decision{Do: "text", Text: s}
}

// resolved is decisions about writes in doubt as the journal keeps results:
// what a person says a tool gave is its output.
func resolved(decisions map[string]string) map[string]string {
	out := make(map[string]string, len(decisions))
	for path, how := range decisions {
		if given, ok := strings.CutPrefix(how, "done:"); ok && json.Valid([]byte(given)) {
			how = "done:" + string(encoded(outputOf(json.RawMessage(given))))
		}
		out[path] = how
	}
	return out
}

// outputOf is what a person wrote down for a tool: a string is its text.
func outputOf(given json.RawMessage) ToolOutput {
	if text, ok := decoded(given).(string); ok {
		return ToolOutput{Text: text}
	}
	return ToolOutput{Data: given}
}

// Ask puts a question to a person and waits for the answer, as long as it
// takes: the process may end meanwhile.
func (s *Scope) Ask(name string, q Question) (Decision, error) {
	d, _, err := s.askAs(name, q, nil)
	return d, err
}

// askAs is Ask of a question that earlier versions put in other words: old, if
// not nil. asOld reports that the journal holds the question in those words.
func (s *Scope) askAs(name string, q Question, old *Question) (d Decision, asOld bool, err error) {
	if err := s.halted(); err != nil {
		return Decision{}, false, err
	}
	q.Path = joinPath(s.Path(), name)
	body, err := q.journaled()
	if err != nil {
		return Decision{}, false, err
	}
	s.event(Event{Type: InterruptRaised, Path: name, Tool: q.Tool, Args: q.Args, Interrupt: &q})
	k := kernel.Question{Name: name, Digest: digest(body), Request: func() []byte { return body }}
	if old != nil {
		was := *old
		was.Path = q.Path
		before, err := was.journaled()
		if err != nil {
			return Decision{}, false, err
		}
		k.Reread = func(request []byte) { asOld = bytes.Equal(encoded(decoded(request)), encoded(decoded(before))) }
		k.Drifted = func() bool { return asOld }
	}
	d, err = kernel.Ask[Decision](s.k, k)
	return d, asOld, err
}
