package runs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
)

// Answer is a human's answer to an open question.
type Answer struct {
	// Path is the path of the question. If it is empty, Value is PATH=VALUE or
	// answers the only open question.
	Path string
	// Do is approve, deny, edit or text, for a write whose outcome is unknown done, redo or
	// skip. If it is empty, Value is parsed.
	Do string
	// Value is the reason of deny, the JSON of edit and done, or the text. Without Do it is
	// approve, deny[:REASON], edit:JSON or text (see interrupt.Parse). For a write whose
	// outcome is unknown it is done:JSON, redo or skip.
	Value string
}

// effectPath matches the usual form of question paths.
var effectPath = text.Regexp(`^[\w./-]+$`)

// split parses PATH=VALUE. The path of an open question may contain any character,
// because it may contain a guard name. Other paths must match effectPath.
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
		return Answer{Path: path, Value: a.Value[len(path)+1:]}
	}
	if path, value, ok := strings.Cut(a.Value, "="); ok && effectPath().MatchString(path) {
		return Answer{Path: path, Value: value}
	}
	return a
}

// assignPaths returns the answers with the paths of their questions.
func assignPaths(r *Run, res *engine.Result, answers []Answer) ([]Answer, error) {
	if r.Ended() && len(answers) > 0 {
		why := fmt.Sprintf("run %q is not waiting for an answer: it has ended (%s)", res.RunID, outcome(res))
		if a := answers[0].split(res.Interrupts); a.Path != "" {
			why += "; " + closedReason(r.Records, a.Path)
		}
		return nil, &QuestionError{why}
	}
	return AssignPaths(res.RunID, res.Interrupts, answers)
}

// AssignPaths returns the answers to open questions of a run with the paths of their
// questions. The error is an *AnswerError.
func AssignPaths(run string, open []interrupt.Question, answers []Answer) (out []Answer, err error) {
	for _, a := range answers {
		a = a.split(open)
		switch {
		case a.Path != "":
		case len(open) == 1:
			a.Path = open[0].Path
		case len(open) == 0:
			return nil, &AnswerError{Reason: fmt.Sprintf("%s: run %q has no open question", a.Value, run), Value: a.Value}
		default:
			return nil, &AnswerError{
				Reason: fmt.Sprintf("%s: %d questions are open; use PATH=ANSWER", a.Value, len(open)),
				Value:  a.Value, Open: open,
			}
		}
		if slices.ContainsFunc(out, func(o Answer) bool { return o.Path == a.Path }) {
			return nil, &AnswerError{Reason: a.Path + ": duplicate answer; a question takes one answer", Value: a.Value}
		}
		out = append(out, a)
	}
	return out, nil
}

// decide passes the answers to open questions on to the session's options.
func (se *Session) decide(r *Run, res *engine.Result, answers []Answer) error {
	if len(answers) == 0 && se.options.Extension == nil {
		return nil
	}
	se.options.Answers, se.options.Resolve = map[string]json.RawMessage{}, map[string]string{}
	for _, a := range answers {
		i := slices.IndexFunc(res.Interrupts, func(q interrupt.Question) bool { return q.Path == a.Path })
		if i < 0 {
			return &QuestionError{closedReason(r.Records, a.Path) + "; " + openQuestions(res)}
		}
		if err := se.permit(&res.Interrupts[i], a); err != nil {
			return err
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

// permit returns an *interrupt.NotApproverError unless the session's author may give the
// answer. What cannot be parsed is not a denial.
func (se *Session) permit(q *interrupt.Question, a Answer) error {
	do := a.Do
	if do == "" && q.Kind != interrupt.Review {
		d, _ := ParseDecision(q.Kind, a.Value)
		do = d.Do
	}
	return q.Permit(se.svc.env.by(), do)
}

func (se *Session) answer(kind interrupt.Kind, a Answer) error {
	if kind == interrupt.Review {
		decision, err := a.resolve()
		se.options.Resolve[a.Path] = decision
		return err
	}
	decision, err := a.Decide(kind)
	se.options.Answers[a.Path] = decision
	return err
}

// ParseDecision parses an answer to a question of a kind. If the answer is invalid,
// wrong is the reason; otherwise it is empty.
func ParseDecision(kind interrupt.Kind, text string) (d interrupt.Decision, wrong string) {
	d = interrupt.Parse(text)
	switch kind {
	case interrupt.Approval, interrupt.Plan, interrupt.Guard:
	default:
		return d, "" // any text is an answer
	}
	switch {
	case d.Do == "edit" && kind == interrupt.Guard:
		return d, "edit is not possible here"
	case d.Do != "text":
		return d, ""
	case strings.TrimSpace(text) == "":
		return d, "the answer is empty; end the input to leave the question open"
	case strings.HasPrefix(strings.TrimSpace(strings.ToLower(text)), "edit:"):
		return d, "invalid JSON after edit:"
	}
	return d, fmt.Sprintf("invalid answer %q", text)
}

// Choices lists the valid answers to a question of a kind, or returns "" if any text is
// valid.
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

// outcome returns how a run ended: completed, or the code of its stop reason.
func outcome(res *engine.Result) string {
	if res.Status == stop.RunCompleted {
		return string(res.Status)
	}
	return string(res.StopReason.Code)
}

// closedReason returns why the question at a path is not open.
func closedReason(recs []journal.Record, path string) string {
	for _, rec := range journal.WithoutVoided(recs) {
		if rec.Kind == journal.Result && rec.Path == path {
			var d interrupt.Decision
			if json.Unmarshal(rec.Body, &d) == nil && d.Do != "" {
				return fmt.Sprintf("%s was already answered (%s): a question takes one answer", path, d.Do)
			}
			return fmt.Sprintf("%s is not an open question: it already has a result", path)
		}
	}
	if slices.ContainsFunc(journal.WithoutVoided(recs), func(r journal.Record) bool { return r.Path == path && r.Class == journal.Question }) {
		return fmt.Sprintf("the question at %s was never answered", path)
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

// Decisions returns answers to open questions of a run as sessions take them, by path: those to
// questions, and those about writes whose outcome is unknown. The error is an *AnswerError or a
// *QuestionError.
func Decisions(run string, open []interrupt.Question, answers []Answer) (answered map[string]json.RawMessage, resolved map[string]string, err error) {
	if answers, err = AssignPaths(run, open, answers); err != nil {
		return nil, nil, err
	}
	answered, resolved = map[string]json.RawMessage{}, map[string]string{}
	for _, a := range answers {
		i := slices.IndexFunc(open, func(q interrupt.Question) bool { return q.Path == a.Path })
		switch {
		case i < 0:
			return nil, nil, &QuestionError{fmt.Sprintf("run %q does not ask %s", run, a.Path)}
		case open[i].Kind == interrupt.Review:
			resolved[a.Path], err = a.resolve()
		default:
			answered[a.Path], err = a.Decide(open[i].Kind)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return answered, resolved, nil
}
