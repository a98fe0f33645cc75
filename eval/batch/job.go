package batch

import (
	"sync/atomic"

	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/trial"
)

// group is the trials graded together: those of a case and repeat for all variants if a
// check compares them, else a single one.
type group struct {
	jobs []*job
	left atomic.Int32 // trials that have not ended
}

// job is a trial to run.
type job struct {
	group   *group
	c       dataset.Case
	variant int
	key     trial.Key
	attempt int
	offset  int64 // offset of the row to grade again; -1 = run it

	// The results.
	run     string
	noRow   bool // no row: it resumes later, or was not needed
	result  *trial.Row
	subject *trial.Subject
	usage   usage
	closed  bool // its run has ended
}

// groups returns the trials of a case that have no row yet.
func (s *session) groups(c *dataset.Case, repeat int) []*group {
	var out []*group
	together := hasPaired(s.plan.Checks)
	for i := range s.plan.Variants {
		key := trial.Key{Case: c.ID, Variant: s.plan.Variants[i].Name, Repeat: repeat}
		id := s.store.index.trialID(key)
		was := s.store.index.trials[id]
		j := &job{c: *c, variant: i, key: key, attempt: int(was.attempts) + 1, offset: -1}
		switch was.state {
		case passed, failed, skipped:
			continue
		case ungraded:
			j.offset = s.store.index.offsets[id]
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

// row returns the row of a trial without results.
func (j *job) row() *trial.Row {
	return &trial.Row{
		V: trial.RowVersion, Key: j.key, Line: j.c.Line, Group: j.c.Group, Tags: j.c.Tags, CaseWeight: j.c.Weight, Input: j.c.Row,
	}
}
