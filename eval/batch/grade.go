package batch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/eval/trial"
)

// gradeAll grades the groups as they end. If a trial of a group is suspended, the others wait for it.
func (s *session) gradeAll() {
	for g := range s.ended {
		waits := slices.ContainsFunc(g.jobs, func(j *job) bool { return j.noRow })
		for _, j := range g.jobs {
			if waits {
				s.ledger.releaseTrial()
				continue
			}
			s.finish(g, j)
		}
	}
}

// finish grades a trial and writes its row.
func (s *session) finish(g *group, j *job) {
	row := j.result
	if j.subject != nil {
		before := row.Marks
		rivals := func(variant string) (*trial.Subject, error) { return s.rival(g, j, variant) }
		if err := grade(s.ctx, s.plan.Checks, row, j.subject, rivals, s.ledger.recordCheck); err != nil {
			s.ledger.releaseTrial() // the session ends; it will be graded later
			return
		}
		j.usage = j.usage.plus(consumption(row.Marks, before))
	} else {
		row.Outcome = trial.Errored
	}
	s.trace(row)
	if err := s.appendRow(row); err != nil {
		s.ledger.releaseTrial()
		s.ledger.fail(err)
		return
	}
	if j.closed {
		s.store.pool.Forget(j.run)
	}
	s.ledger.recordRow(row, j.usage)
}

// trace exports a trial.
func (s *session) trace(row *trial.Row) {
	if t := s.plan.Tracer; t != nil {
		t.Graded(row)
	}
}

// appendRow appends a row to the file.
func (s *session) appendRow(row *trial.Row) error {
	row.At = time.Now().UTC().Round(time.Millisecond)
	return appendRow(s.store.rows, row, s.plan.Mask)
}

// appendRow appends a row, redacted by mask unless that is nil.
func appendRow(log *journal.Log, row *trial.Row, mask Mask) error {
	b, err := jsonvalue.Marshal(row)
	if err == nil && mask != nil && mask(row, b) {
		b, err = jsonvalue.Marshal(row)
	}
	if err != nil {
		return fmt.Errorf("row of case %s: %w", row.Case, err)
	}
	_, err = log.Append(b)
	return err
}

// rival returns the same trial under another variant, or nil if there is none.
func (s *session) rival(g *group, j *job, variant string) (*trial.Subject, error) {
	for _, o := range g.jobs {
		if o.key.Variant == variant {
			return o.subject, nil
		}
	}
	key := j.key
	key.Variant = variant
	at, there := s.store.index.offsets[s.store.index.trialID(key)]
	if !there {
		return nil, nil
	}
	row, err := s.store.rowAt(at)
	if err != nil {
		return nil, err
	}
	return subjectOf(row), nil
}

// consumption returns the usage of marks, except those of before.
func consumption(marks, before []trial.Mark) (c usage) {
	for _, m := range marks {
		if _, there := markOf(before, m.Check, m.Type); !there {
			c = c.plus(usage{m.Cost, m.Tokens})
		}
	}
	return c
}

// rivals looks up the same trial under another variant; see session.rival.
type rivals func(variant string) (*trial.Subject, error)

// grade runs the checks and adds their marks to the row, except those it already has. onCheck, if not nil, is
// called after each check. An error means that ctx has ended.
func grade(ctx context.Context, checks []Graded, row *trial.Row, s *trial.Subject, other rivals, onCheck func(*Graded, error)) error {
	marks := make([]trial.Mark, 0, len(checks))
	for i := range checks {
		c := &checks[i]
		if m, there := markOf(row.Marks, c.Spec.Name, c.Spec.Type); there {
			marks = append(marks, m)
			continue
		}
		rated, wanted, err := rivalFor(c, row, s, other)
		if !wanted {
			continue
		}
		var m trial.Mark
		if err == nil {
			m, err = ask(ctx, c, rated)
			if onCheck != nil && ctx.Err() == nil {
				onCheck(c, err)
			}
		}
		if ctx.Err() != nil && err != nil {
			return ctx.Err()
		}
		marks = append(marks, completeMark(c, m, err))
	}
	row.Marks = marks
	scoreRow(row)
	return nil
}

// markOf returns the mark of an earlier session.
func markOf(marks []trial.Mark, name, kind string) (trial.Mark, bool) {
	for _, m := range marks {
		if m.Check == name && m.Type == kind && m.Error == "" {
			return m, true
		}
	}
	return trial.Mark{}, false
}

// rivalFor sets the rival in the subject of a check that compares variants; wanted is
// false for the variant that others are compared with.
func rivalFor(c *Graded, row *trial.Row, s *trial.Subject, other rivals) (_ *trial.Subject, wanted bool, err error) {
	p, ok := c.Check.(trial.Paired)
	if !ok {
		return s, true, nil
	}
	if p.Against() == row.Variant {
		return nil, false, nil
	}
	rival, err := other(p.Against())
	if err == nil && rival == nil {
		err = fmt.Errorf("variant %q has no result to compare with in this trial", p.Against())
	}
	both := *s
	both.Paired = rival
	return &both, true, err
}

// ask runs a check and converts a panic to an error.
func ask(ctx context.Context, c *Graded, s *trial.Subject) (m trial.Mark, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the check panicked: %v", p)
		}
	}()
	return c.Check.Check(ctx, s)
}

// completeMark sets which check a mark belongs to.
func completeMark(c *Graded, m trial.Mark, err error) trial.Mark {
	if err != nil {
		m = trial.Mark{Error: err.Error(), Tokens: m.Tokens, Cost: m.Cost}
	} else if c.Spec.Negate {
		m.Pass, m.Score = !m.Pass, 1-m.Score
		if m.Expected != "" {
			m.Expected = "not " + m.Expected
		}
	}
	m.Check, m.Type, m.Weight, m.Line = c.Spec.Name, c.Spec.Type, c.Spec.Weight, c.Spec.Position.Line
	return m
}

// scoreRow derives outcome and score from the marks: a trial passes if all weighted marks
// do, or without any if its run completed.
func scoreRow(row *trial.Row) {
	var weights, score float64
	pass := true
	var failures []error
	for i := range row.Marks {
		m := &row.Marks[i]
		switch {
		case m.Weight == 0:
		case m.Error != "":
			failures = append(failures, fmt.Errorf("%s: %s", m.Check, m.Error))
		default:
			weights += m.Weight
			score += m.Weight * m.Score
			pass = pass && m.Pass
		}
	}
	switch {
	case len(failures) > 0:
		row.Outcome, row.Score = trial.Errored, 0
		row.Fault = &trial.Fault{Kind: trial.GraderFault, Message: errors.Join(failures...).Error()}
		return
	case weights == 0:
		pass = row.Run.Status == "completed"
		if row.Score = 0; pass {
			row.Score = 1
		}
	default:
		row.Score = score / weights
	}
	row.Fault, row.Outcome = nil, trial.Failed
	if pass {
		row.Outcome = trial.Passed
	}
}
