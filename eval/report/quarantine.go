package report

import (
	"strings"
	"time"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/exprenv"
)

// quarantine has the active entries of a suite, and those that had expired when the evaluation started.
type quarantine struct {
	active, expired []suitespec.Quarantine
}

// quarantineOf returns the quarantine of the suite or, without one, of the manifest.
func quarantineOf(s *suitespec.Suite, m *Manifest) *quarantine {
	if s == nil {
		return &quarantine{active: m.QuarantinedAtStart()}
	}
	q := &quarantine{}
	day := m.Started.UTC().Format("2006-01-02")
	for _, e := range s.Quarantine {
		if e.Until != "" && e.Until < day {
			q.expired = append(q.expired, e)
		} else {
			q.active = append(q.active, e)
		}
	}
	return q
}

// QuarantinedAtStart returns the entries that were active when the evaluation started.
func (m *Manifest) QuarantinedAtStart() []suitespec.Quarantine {
	out := make([]suitespec.Quarantine, 0, len(m.Quarantine))
	for _, pattern := range m.Quarantine {
		out = append(out, suitespec.Quarantine{Case: pattern})
	}
	return out
}

// ActiveQuarantine returns the ids and patterns that a suite quarantines on a day.
func ActiveQuarantine(s *suitespec.Suite, day time.Time) []string {
	var out []string
	for _, e := range quarantineOf(s, &Manifest{Started: day}).active {
		out = append(out, e.Case)
	}
	return out
}

// contains reports whether a case is quarantined.
func (q *quarantine) contains(id string) bool {
	for _, e := range q.active {
		if matches(e.Case, id) {
			return true
		}
	}
	return false
}

// quarantinedStats returns the statistics of the quarantined cases, or nil if there are none.
func (g *gatherer) quarantinedStats() *exprenv.GroupStats {
	var p part
	any := false
	for u, t := range g.units() {
		if t.quarantined {
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

// Finished returns the number of trials that ended, including those of quarantined cases.
func (r *Report) Finished() int {
	if r.QuarantinedStats == nil {
		return r.Stats.Trials
	}
	return r.Stats.Trials + r.QuarantinedStats.Trials
}

// allQuarantined reports whether all trials belong to quarantined cases.
func (r *Report) allQuarantined() bool {
	return r.QuarantinedStats != nil && r.QuarantinedStats.Trials > 0 && r.Stats.Trials == 0
}

// matches reports whether a pattern matches a name. * matches any text.
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

// gates returns a failed gate for each expired entry that matches a case.
func (q *quarantine) gates(cases Cases) []GateResult {
	var out []GateResult
	for _, e := range q.expired {
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
