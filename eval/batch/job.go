package batch

import (
	"sync/atomic"

	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/trial"
)

// group is trials that are graded together: of one case and repeat under all
// variants where a check compares them, else one alone.
type group struct {
	jobs []*job
	left atomic.Int32 // that have not ended
}

// job is one trial that is to be run.
type job struct {
	group   *group
	of      dataset.Case
	variant int
	key     trial.Key
	attempt int
	at      int64 // where the row is that is only graded again; -1 = it is run

	// What came of it.
	run     string
	left    bool // it has no row of its own: it goes on another time, or was not needed
	result  *trial.Row
	subject *trial.Subject
	took    consumed
	closed  bool // its run is over
}

// groups are the trials of a case that have no row yet.
func (s *session) groups(c *dataset.Case, repeat int) []*group {
	var out []*group
	together := paired(s.plan.Checks)
	for i := range s.plan.Variants {
		key := trial.Key{Case: c.ID, Variant: s.plan.Variants[i].Name, Repeat: repeat}
		id := s.store.known.trial(key)
		was := s.store.known.trials[id]
		j := &job{of: *c, variant: i, key: key, attempt: int(was.attempts) + 1, at: -1}
		switch was.state {
		case passed, failed, skipped:
			continue
		case ungraded:
			j.at = s.store.known.at[id]
		case errored:
		}
		if len(out) == 0 || !together {
			out = append(out, &group{})
		}
		j.group = out[len(out)-1]
		j.group.jobs = append(j.group.jobs, j)
	}
	return out
}

// row is a row of the trial before anything came of it.
func (j *job) row() *trial.Row {
	return &trial.Row{
		V: trial.RowVersion, Key: j.key, Line: j.of.Line, Group: j.of.Group, Tags: j.of.Tags, CaseWeight: j.of.Weight, Input: j.of.Row,
	}
}
