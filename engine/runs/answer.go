package runs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
)

// Answer decides an open question.
type Answer struct {
	// Path of the question; "" = Value is PATH=VALUE, or decides the only open
	// question.
	Path string
	// Value is approve, deny[:WHY], edit:JSON or text, as interrupt.Parse
	// reads it; of a write whose outcome is unknown done:JSON, redo or skip.
	Value string
}

// effectPath is what the path of a question looks like.
var effectPath = regexp.MustCompile(`^[\w./-]+$`)

// split reads PATH=VALUE. The path of an open question may hold any character,
// since the name of a guard may; other paths are recognized by their form.
func (a Answer) split(open []interrupt.Question) Answer {
	if a.Path != "" {
		return a
	}
	var path string
	for _, q := range open {
		if strings.HasPrefix(a.Value, q.Path+"=") && len(q.Path) > len(path) {
			path = q.Path
		}
	}
	if path != "" {
		return Answer{path, a.Value[len(path)+1:]}
	}
	if path, value, ok := strings.Cut(a.Value, "="); ok && effectPath.MatchString(path) {
		return Answer{path, value}
	}
	return a
}

// addressed gives each answer the path of the question that it is for.
func addressed(r *Run, res *engine.Result, answers []Answer) (out []Answer, err error) {
	for _, a := range answers {
		a = a.split(res.Interrupts)
		switch {
		case r.Ended():
			why := "no question is open"
			if a.Path != "" {
				why = decided(r.Records, a.Path)
			}
			return nil, &QuestionError{fmt.Sprintf("run %s has ended (%s): %s", res.RunID, res.StopReason.Code, why)}
		case a.Path != "":
		case len(res.Interrupts) == 1:
			a.Path = res.Interrupts[0].Path
		case len(res.Interrupts) == 0:
			return nil, &AnswerError{Reason: fmt.Sprintf("%s: run %s asks nothing", a.Value, res.RunID), Value: a.Value}
		default:
			return nil, &AnswerError{
				Reason: fmt.Sprintf("%s: %d questions are open, say which is meant", a.Value, len(res.Interrupts)),
				Value:  a.Value, Open: res.Interrupts,
			}
		}
		if slices.ContainsFunc(out, func(o Answer) bool { return o.Path == a.Path }) {
			return nil, &AnswerError{Reason: a.Path + " is given twice: a question takes one decision", Value: a.Value}
		}
		out = append(out, a)
	}
	return out, nil
}

// decide takes over answers to the questions that are open.
func (se *Session) decide(r *Run, res *engine.Result, answers []Answer) error {
	if len(answers) == 0 && se.options.Extension == nil {
		return nil
	}
	se.options.Answers, se.options.Resolve = map[string]json.RawMessage{}, map[string]string{}
	for _, a := range answers {
		i := slices.IndexFunc(res.Interrupts, func(q interrupt.Question) bool { return q.Path == a.Path })
		if i < 0 {
			return &QuestionError{decided(r.Records, a.Path) + "; " + openQuestions(res)}
		}
		if err := se.answer(res.Interrupts[i].Kind, a); err != nil {
			return err
		}
	}
	for _, q := range res.Interrupts {
		if q.Kind == interrupt.Review && se.options.Resolve[q.Path] == "" {
			return &UnresolvedWriteError{q}
		}
	}
	return nil
}

func (se *Session) answer(kind interrupt.Kind, a Answer) error {
	if kind == interrupt.Review {
		body, done := strings.CutPrefix(a.Value, "done:")
		if a.Value != "redo" && a.Value != "skip" && (!done || !json.Valid([]byte(body))) {
			return &AnswerError{Reason: fmt.Sprintf("%s: %q decides nothing about a write in doubt: use done:JSON (what it gave), redo or skip", a.Path, a.Value), Value: a.Value}
		}
		se.options.Resolve[a.Path] = a.Value
		return nil
	}
	d, wrong := ParseDecision(kind, a.Value)
	if wrong != "" {
		return &AnswerError{Reason: fmt.Sprintf("%s: %s; use %s", a.Path, wrong, Choices(kind)), Value: a.Value}
	}
	body, err := json.Marshal(d)
	se.options.Answers[a.Path] = body
	return err
}

// ParseDecision reads an answer to a question of a kind; wrong says why it
// decides nothing, "" = it does.
func ParseDecision(kind interrupt.Kind, text string) (d interrupt.Decision, wrong string) {
	d = interrupt.Parse(text)
	switch kind {
	case interrupt.Approval, interrupt.Plan, interrupt.Guard:
	default:
		return d, "" // any text is an answer
	}
	switch {
	case d.Do == "edit" && kind == interrupt.Guard:
		return d, "there is nothing to edit"
	case d.Do != "text":
		return d, ""
	case strings.TrimSpace(text) == "":
		return d, "an answer is needed; the end of input leaves the question open"
	case strings.HasPrefix(strings.TrimSpace(strings.ToLower(text)), "edit:"):
		return d, "what follows edit: is not JSON"
	}
	return d, fmt.Sprintf("%q is none of the answers", text)
}

// Choices lists the answers that decide a question of a kind; "" = any text does.
func Choices(kind interrupt.Kind) string {
	switch kind {
	case interrupt.Human, interrupt.User:
		return ""
	case interrupt.Guard:
		return "approve | deny[:why]"
	default:
		return "approve | deny[:why] | edit:<json>"
	}
}

// decided says what became of a question that is not open.
func decided(recs []journal.Record, path string) string {
	for _, rec := range journal.WithoutVoided(recs) {
		if rec.Kind == journal.Result && rec.Path == path {
			var d interrupt.Decision
			if json.Unmarshal(rec.Body, &d) == nil && d.Do != "" {
				return fmt.Sprintf("%s was answered before (%s): a question takes one decision", path, d.Do)
			}
			return fmt.Sprintf("%s has its result: nothing is asked about it any more", path)
		}
	}
	if slices.ContainsFunc(journal.WithoutVoided(recs), func(r journal.Record) bool { return r.Path == path && r.Class == journal.Question }) {
		return fmt.Sprintf("%s was asked and never answered", path)
	}
	return fmt.Sprintf("no question was asked at %s", path)
}

func openQuestions(res *engine.Result) string {
	if len(res.Interrupts) == 0 {
		return "no question is open"
	}
	var paths []string
	for _, q := range res.Interrupts {
		paths = append(paths, q.Path)
	}
	return "open: " + strings.Join(paths, ", ")
}
