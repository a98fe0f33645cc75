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

// known is what there are rows of. It keeps hashes, and no texts: a dataset may
// be long.
type known struct {
	seed   maphash.Seed
	trials map[uint64]standing
	runs   map[uint64]struct{}   // that have ended and have a row, while the pool is opened
	cases  map[uint64]tally      // under a variant; nil = nobody decides by them
	at     map[uint64]int64      // where rows stand that are wanted again
	all    bool                  // all of them are
	spent  consumed              // in all sessions, whatever came of it
	seen   int                   // trials that took something, or came to an end
	worst  consumed              // of a trial
	kept   map[uint64][]slimMark // marks of ungraded trials that grading again takes over
}

// standing is how a trial stands: its last row, and how many of its runs ended
// in an error.
type standing struct {
	state    state
	attempts uint8
}

type state uint8

const (
	passed state = iota + 1
	failed
	skipped
	errored
	ungraded // it ran, and only its checks are to be asked again
)

// tally is the graded trials of a case.
type tally struct{ n, passed, errors int32 }

// consumed is money and tokens.
type consumed struct {
	cost   float64
	tokens int
}

func (c consumed) plus(o consumed) consumed { return consumed{c.cost + o.cost, c.tokens + o.tokens} }

func (c consumed) times(n float64) consumed {
	return consumed{c.cost * n, int(math.Round(float64(c.tokens) * n))}
}

func (c consumed) atLeast(o consumed) consumed {
	return consumed{max(c.cost, o.cost), max(c.tokens, o.tokens)}
}

func newKnown(p *Plan) *known {
	k := &known{
		seed: maphash.MakeSeed(), trials: map[uint64]standing{}, runs: map[uint64]struct{}{}, at: map[uint64]int64{}, all: paired(p.Checks),
		kept: map[uint64][]slimMark{},
	}
	if p.Decided != nil {
		k.cases = map[uint64]tally{}
	}
	return k
}

func (k *known) trial(key trial.Key) uint64 {
	return k.hash(key.Case, key.Variant, strconv.Itoa(key.Repeat))
}

func (k *known) aCase(key trial.Key) uint64 { return k.hash(key.Case, key.Variant) }

func (k *known) hash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(k.seed)
	for _, p := range parts {
		_, _ = h.WriteString(p) // it never fails
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// slim is what of a row is looked at when an evaluation is gone on with.
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

// slimMark is what of a mark is looked at.
type slimMark struct {
	Check  string  `json:"check"`
	Type   string  `json:"type"`
	Error  string  `json:"error"`
	Cost   float64 `json:"cost_usd"`
	Tokens int     `json:"tokens"`
}

// line takes over a row.
func (k *known) line(l journal.Line) error {
	var r slim
	if err := json.Unmarshal(l.JSON, &r); err != nil {
		return err
	}
	id := k.trial(r.Key)
	before := k.trials[id]
	now := standing{stateOf(r.Outcome, r.Fault), before.attempts}
	ended := r.Run.ID != "" && r.Run.Status != stop.RunInterrupted
	if now.state == errored && ended && now.attempts < 255 {
		now.attempts++
	}
	k.trials[id] = now
	if ended {
		k.runs[k.hash(r.Run.ID)] = struct{}{}
	}
	delete(k.at, id)
	if now.state == ungraded || k.all && (now.state == passed || now.state == failed) {
		k.at[id] = l.At
	}
	k.spend(id, &r, before.state == ungraded, now.state)
	k.count(k.aCase(r.Key), before.state, -1)
	k.count(k.aCase(r.Key), now.state, 1)
	return nil
}

// spend takes over what a row says was spent. One that was only graded again did
// not run again, and holds marks that an earlier row has as well.
func (k *known) spend(id uint64, r *slim, again bool, now state) {
	var took consumed
	if !again {
		took = consumed{r.Run.Cost, r.Run.Tokens}
	}
	earlier := k.kept[id]
	delete(k.kept, id)
	for _, m := range r.Marks {
		if !again || !slices.Contains(earlier, m) {
			took = took.plus(consumed{m.Cost, m.Tokens})
		}
		if now == ungraded && m.Error == "" {
			k.kept[id] = append(k.kept[id], m)
		}
	}
	if k.spent = k.spent.plus(took); now == skipped || now == errored && took == (consumed{}) {
		return
	}
	k.worst = k.worst.atLeast(took)
	k.seen++
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

// count adds a trial to its case, or takes it away.
func (k *known) count(id uint64, s state, by int32) {
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

// closed says that a run has a row: nobody will want its records.
func (k *known) closed(run string) bool {
	_, yes := k.runs[k.hash(run)]
	return yes
}
