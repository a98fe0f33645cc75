package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

// take checks the answers against the questions that are open.
func (s *session) take(p *past, res *engine.Result, given []reply) error {
	if len(given) == 0 && s.options.More == nil {
		return nil
	}
	s.options.Answers, s.options.Resolve = map[string]json.RawMessage{}, map[string]string{}
	for _, g := range given {
		i := slices.IndexFunc(res.Interrupts, func(q engine.Question) bool { return q.Path == g.path })
		if i < 0 {
			return failure.Usagef("%s; %s", decided(p.records, g.path), openQuestions(res))
		}
		if err := s.answer(res.Interrupts[i], g); err != nil {
			return err
		}
	}
	for _, q := range res.Interrupts {
		if q.Kind == engine.AskReview && s.options.Resolve[q.Path] == "" {
			return failure.Usagef("%s is in doubt too: %s (or %s)", q.Path, answering(q, ways(q)[0]), strings.Join(ways(q)[1:], ", "))
		}
	}
	return nil
}

func (s *session) answer(q engine.Question, g reply) error {
	if q.Kind == engine.AskReview {
		body, done := strings.CutPrefix(g.value, "done:")
		if g.value != "redo" && g.value != "skip" && (!done || !json.Valid([]byte(body))) {
			return failure.Usagef("--answer %s: %q decides nothing about a write in doubt: use done:JSON (what it gave), redo or skip", g.path, g.value)
		}
		s.options.Resolve[g.path] = g.value
		return nil
	}
	d := engine.ParseDecision(g.value)
	if wrong := unclear(q.Kind, g.value, d); wrong != "" {
		return failure.Usagef("--answer %s: %s; use %s", g.path, wrong, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(choices(q.Kind)), ">")))
	}
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	s.options.Answers[g.path] = body
	return nil
}

// reply is an answer as the caller wrote it.
type reply struct{ path, value string }

// effectPath is what the path of a question looks like.
var effectPath = regexp.MustCompile(`^[\w./-]+$`)

// replyOf reads PATH=VALUE, or a VALUE alone. The path of an open question may
// hold any character, since the name of a guard may; other paths are recognized
// by their form.
func replyOf(arg string, open []engine.Question) reply {
	var path string
	for _, q := range open {
		if strings.HasPrefix(arg, q.Path+"=") && len(q.Path) > len(path) {
			path = q.Path
		}
	}
	if path != "" {
		return reply{path, arg[len(path)+1:]}
	}
	if path, value, ok := strings.Cut(arg, "="); ok && effectPath.MatchString(path) {
		return reply{path, value}
	}
	return reply{value: arg}
}

// givenAnswers are the answers of a call, each with the question it is for.
func (s *session) givenAnswers(p *past, res *engine.Result) ([]reply, error) {
	var out []reply
	for _, arg := range s.c.StringSlice("answer") {
		g := replyOf(arg, res.Interrupts)
		switch {
		case ended(p.records) && g.path == "":
			return nil, failure.Usagef("run %s has ended (%s): no question is open", res.RunID, res.StopReason.Code)
		case ended(p.records):
			return nil, failure.Usagef("run %s has ended (%s): %s", res.RunID, res.StopReason.Code, decided(p.records, g.path))
		case g.path != "":
		case len(res.Interrupts) == 1:
			g.path = res.Interrupts[0].Path
		default:
			return nil, s.whichQuestion(res, g.value)
		}
		if slices.ContainsFunc(out, func(o reply) bool { return o.path == g.path }) {
			return nil, failure.Usagef("--answer %s is given twice: a question takes one decision", g.path)
		}
		out = append(out, g)
	}
	return out, nil
}

// whichQuestion refuses an answer that says not which question it is for, with
// the commands that do.
func (s *session) whichQuestion(res *engine.Result, value string) error {
	if len(res.Interrupts) == 0 {
		return failure.Usagef("--answer %s: run %s asks nothing", value, res.RunID)
	}
	lines := []string{fmt.Sprintf("--answer %s: %d questions are open, say which is meant:", value, len(res.Interrupts))}
	for _, q := range res.Interrupts {
		answer := value
		if q.Kind == engine.AskReview {
			answer = ways(q)[0]
		}
		lines = append(lines, fmt.Sprintf("  %s %s   # %s", toTry(s.c, "resume", res.RunID), answering(q, answer), tty.OneLine(tty.Safe(q.Question), 60)))
	}
	return failure.Usagef("%s", strings.Join(lines, "\n"))
}

// decided says what became of a question that is not open.
func decided(recs []journal.Record, path string) string {
	for _, rec := range journal.Standing(recs) {
		if rec.Kind == journal.Result && rec.Path == path {
			var d engine.Decision
			if json.Unmarshal(rec.Body, &d) == nil && d.Do != "" {
				return fmt.Sprintf("%s was answered before (%s): a question takes one decision", path, d.Do)
			}
			return fmt.Sprintf("%s has its result: nothing is asked about it any more", path)
		}
	}
	if slices.ContainsFunc(journal.Standing(recs), func(r journal.Record) bool { return r.Path == path && r.Class == journal.Question }) {
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
