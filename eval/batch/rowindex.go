package batch

import (
	"encoding/json"
	"hash/maphash"
	"math"
	"slices"
	"strconv"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/trial"
)

// rowIndex indexes existing rows by hash, without texts, since datasets may be large.
type rowIndex struct {
	seed          maphash.Seed
	trials        map[uint64]trialState
	runs          map[uint64]struct{}   // ended runs with a row; only while the pool is opened
	cases         map[uint64]caseTally  // by case and variant; nil = not needed
	offsets       map[uint64]int64      // offsets of rows that are needed again
	all           bool                  // index all rows
	spent         usage                 // in all sessions
	samples       int                   // trials with usage, or ended
	maxUsage      usage                 // maximum of a trial
	ungradedMarks map[uint64][]slimMark // marks of ungraded trials that grading again reuses
}

// trialState is the state of a trial: its last row, and how many of its runs ended in an
// error.
type trialState struct {
	state    state
	attempts uint8
}

type state uint8

const (
	passed state = iota + 1
	failed
	skipped
	errored
	ungraded // it ran and must only be graded
)

// caseTally counts the graded trials of a case.
type caseTally struct{ n, passed, errors int32 }

// usage is money and tokens.
type usage struct {
	cost   float64
	tokens int
}

func (c usage) plus(o usage) usage { return usage{c.cost + o.cost, c.tokens + o.tokens} }

func (c usage) times(n float64) usage {
	return usage{c.cost * n, int(math.Round(float64(c.tokens) * n))}
}

func (c usage) atLeast(o usage) usage {
	return usage{max(c.cost, o.cost), max(c.tokens, o.tokens)}
}

func newRowIndex(p *Plan) *rowIndex {
	k := &rowIndex{
		seed: maphash.MakeSeed(), trials: map[uint64]trialState{}, runs: map[uint64]struct{}{}, offsets: map[uint64]int64{}, all: hasPaired(p.Checks),
		ungradedMarks: map[uint64][]slimMark{},
	}
	if p.Decided != nil {
		k.cases = map[uint64]caseTally{}
	}
	return k
}

func (k *rowIndex) trialID(key trial.Key) uint64 {
	return k.hash(key.Case, key.Variant, strconv.Itoa(key.Repeat))
}

func (k *rowIndex) caseID(key trial.Key) uint64 { return k.hash(key.Case, key.Variant) }

func (k *rowIndex) hash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(k.seed)
	for _, p := range parts {
		_, _ = h.WriteString(p) // never fails
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// slim is the part of a row needed to resume.
type slim struct {
	trial.Key
	Outcome trial.Outcome `json:"outcome"`
	Fault   *trial.Fault  `json:"fault"`
	Marks   []slimMark    `json:"marks"`
	Run     struct {
		ID     string         `json:"id"`
		Status stop.RunStatus `json:"status"`
		Tokens int            `json:"tokens"`
		Cost   float64        `json:"cost_usd"`
	} `json:"run"`
}

// slimMark is the part of a mark needed to resume.
type slimMark struct {
	Check  string  `json:"check"`
	Type   string  `json:"type"`
	Error  string  `json:"error"`
	Cost   float64 `json:"cost_usd"`
	Tokens int     `json:"tokens"`
}

// add indexes a row.
func (k *rowIndex) add(l journal.Line) error {
	var r slim
	if err := json.Unmarshal(l.JSON, &r); err != nil {
		return err
	}
	id := k.trialID(r.Key)
	before := k.trials[id]
	now := trialState{stateOf(r.Outcome, r.Fault), before.attempts}
	ended := r.Run.ID != "" && r.Run.Status != stop.RunInterrupted
	if now.state == errored && ended && now.attempts < 255 {
		now.attempts++
	}
	k.trials[id] = now
	if ended {
		k.runs[k.hash(r.Run.ID)] = struct{}{}
	}
	delete(k.offsets, id)
	if now.state == ungraded || k.all && (now.state == passed || now.state == failed) {
		k.offsets[id] = l.At
	}
	k.spend(id, &r, before.state == ungraded, now.state)
	k.count(k.caseID(r.Key), before.state, -1)
	k.count(k.caseID(r.Key), now.state, 1)
	return nil
}

// spend adds the usage of a row. A row that was only graded again did not run, and
// repeats marks of an earlier row.
func (k *rowIndex) spend(id uint64, r *slim, again bool, now state) {
	var took usage
	if !again {
		took = usage{r.Run.Cost, r.Run.Tokens}
	}
	earlier := k.ungradedMarks[id]
	delete(k.ungradedMarks, id)
	for _, m := range r.Marks {
		if !again || !slices.Contains(earlier, m) {
			took = took.plus(usage{m.Cost, m.Tokens})
		}
		if now == ungraded && m.Error == "" {
			k.ungradedMarks[id] = append(k.ungradedMarks[id], m)
		}
	}
	if k.spent = k.spent.plus(took); now == skipped || now == errored && took == (usage{}) {
		return
	}
	k.maxUsage = k.maxUsage.atLeast(took)
	k.samples++
}

func stateOf(o trial.Outcome, f *trial.Fault) state {
	switch o {
	case trial.Passed:
		return passed
	case trial.Failed:
		return failed
	case trial.Skipped:
		return skipped
	case trial.Errored:
	}
	if f != nil && f.Kind == trial.GraderFault {
		return ungraded
	}
	return errored
}

// count adds a trial to its case, or removes it.
func (k *rowIndex) count(id uint64, s state, by int32) {
	if k.cases == nil || s == 0 || s == skipped {
		return
	}
	t := k.cases[id]
	switch s {
	case passed:
		t.n, t.passed = t.n+by, t.passed+by
	case failed:
		t.n += by
	default:
		t.errors += by
	}
	k.cases[id] = t
}

// closed reports whether a run has a row, so that its records are not needed.
func (k *rowIndex) closed(run string) bool {
	_, yes := k.runs[k.hash(run)]
	return yes
}
