package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
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
			return usage("%s; %s", decided(p.records, g.path), openQuestions(res))
		}
		if err := s.answer(res.Interrupts[i], g); err != nil {
			return err
		}
	}
	for _, q := range res.Interrupts {
		if q.Kind == engine.AskReview && s.options.Resolve[q.Path] == "" {
			return usage("%s is in doubt too: --answer %s", q.Path, quoted(q.Path+"="+sampleAnswer(q.Kind)))
		}
	}
	return nil
}

func (s *session) answer(q engine.Question, g reply) error {
	if q.Kind == engine.AskReview {
		body, done := strings.CutPrefix(g.value, "done:")
		if g.value != "redo" && g.value != "skip" && (!done || !json.Valid([]byte(body))) {
			return usage("--answer %s: %q decides nothing about a write in doubt: use done:JSON (what it gave), redo or skip", g.path, g.value)
		}
		s.options.Resolve[g.path] = g.value
		return nil
	}
	d := engine.ParseDecision(g.value)
	if wrong := unclear(q.Kind, g.value, d); wrong != "" {
		return usage("--answer %s: %s; use %s", g.path, wrong, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(choices(q.Kind)), ">")))
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

func givenAnswers(args []string) ([]reply, error) {
	var out []reply
	for _, arg := range args {
		path, value, ok := strings.Cut(arg, "=")
		if !ok || path == "" {
			return nil, usage("--answer %s: write PATH=VALUE, as in step.s1/turn.1/tool.0.approval=approve", arg)
		}
		if slices.ContainsFunc(out, func(g reply) bool { return g.path == path }) {
			return nil, usage("--answer %s is given twice: a question takes one decision", path)
		}
		out = append(out, reply{path, value})
	}
	return out, nil
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
		return fmt.Sprintf("%s was asked, and nobody answered in time", path)
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
