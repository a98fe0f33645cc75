package report

import (
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/exprenv"
)

// quarantine is the entries of a suite that still stand, and those whose day is
// over when the evaluation began.
type quarantine struct {
	standing, over []suitespec.Quarantine
}

// quarantineOf is that of the suite or, without one, of the manifest.
func quarantineOf(s *suitespec.Suite, m *Manifest) *quarantine {
	if s == nil {
		return &quarantine{standing: m.QuarantinedAtStart()}
	}
	q := &quarantine{}
	day := m.Started.UTC().Format("2006-01-02")
	for _, e := range s.Quarantine {
		if e.Until != "" && e.Until < day {
			q.over = append(q.over, e)
		} else {
			q.standing = append(q.standing, e)
		}
	}
	return q
}

// QuarantinedAtStart is the quarantine that stood when the evaluation began.
func (m *Manifest) QuarantinedAtStart() []suitespec.Quarantine {
	out := make([]suitespec.Quarantine, 0, len(m.Quarantine))
	for _, pattern := range m.Quarantine {
		out = append(out, suitespec.Quarantine{Case: pattern})
	}
	return out
}

// ActiveQuarantine lists what a suite's quarantine holds on a day: ids, and patterns.
func ActiveQuarantine(s *suitespec.Suite, day time.Time) []string {
	var out []string
	for _, e := range quarantineOf(s, &Manifest{Started: day}).standing {
		out = append(out, e.Case)
	}
	return out
}

// holds says whether a case is in quarantine.
func (q *quarantine) holds(id string) bool {
	for _, e := range q.standing {
		if matches(e.Case, id) {
			return true
		}
	}
	return false
}

// heldApart is what the cases in quarantine come to; nil where there is none.
func (g *gathering) heldApart() *exprenv.GroupStats {
	var p part
	any := false
	for u, t := range g.units() {
		if t.held {
			any = true
			p.add(u)
		}
	}
	if !any {
		return nil
	}
	s := p.stats()
	return &s
}

// Finished is how many trials have ended, those of cases in quarantine among
// them.
func (r *Report) Finished() int {
	if r.QuarantinedStats == nil {
		return r.Stats.Trials
	}
	return r.Stats.Trials + r.QuarantinedStats.Trials
}

// onlyHeld says that all trials are of cases in quarantine.
func (r *Report) onlyHeld() bool {
	return r.QuarantinedStats != nil && r.QuarantinedStats.Trials > 0 && r.Stats.Trials == 0
}

// matches says whether a pattern, in which * is any text, is all of a name.
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// gates is how entries whose day is over come out: each as a gate that does not
// hold, if the evaluation has cases that it was for.
func (q *quarantine) gates(cases Cases) []GateResult {
	var out []GateResult
	for _, e := range q.over {
		var ids []string
		for _, c := range cases.All() {
			if matches(e.Case, c.ID) && (len(ids) == 0 || ids[len(ids)-1] != c.ID) {
				ids = append(ids, c.ID)
			}
		}
		if len(ids) > 0 {
			out = append(out, GateResult{
				Name: "quarantine of " + e.Case + " ended on " + e.Until, Cases: ids,
				Error: "fix the case or extend its quarantine" + askOwner(e.Owner), File: e.Position.File, Line: e.Position.Line,
			})
		}
	}
	return out
}

func askOwner(owner string) string {
	if owner == "" {
		return ""
	}
	return " (owner: " + owner + ")"
}
