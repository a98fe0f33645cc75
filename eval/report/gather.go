package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/trial"
)

// gathering is what is kept of rows.
type gathering struct {
	tallies
	q                *quarantine
	variants, groups names
	checks           []*checkTally
	checkNumbers     map[string]int
	reasons          []reason
	order            []int32 // of the tallies, once all rows are there

	latency, cost, tokens []float32 // of graded trials: seconds, dollars, tokens
	latencyAll, costAll   int64     // in units, of finished trials
	tokensAll             int64

	passed, failed, skipped int
	hollow                  map[stop.Code]int // trials that passed though their run failed
	faults                  map[trial.ErrorKind]*fault
	judgeTokens, judgeCost  int64
	ended                   time.Time

	superseded map[trial.Key]int      // rows of a key that are yet to be passed over
	again      map[trial.Key]int      // rows of a key beyond its first
	far        map[trial.Key]struct{} // keys with a repeat beyond 64
}

// fault counts a kind of error, with the message of the first trial in order.
type fault struct {
	count   int
	line    int
	key     trial.Key
	message string
}

// gather reads the rows. The last row of a key counts: where a key has several,
// the rows are read a second time and the earlier ones are passed over.
func gather(rows trial.Rows, m *Manifest, q *quarantine, total int) (*gathering, error) {
	g, err := gatherOnce(rows, m, q, total, nil)
	if err == nil && len(g.again) > 0 {
		g, err = gatherOnce(rows, m, q, total, g.again)
	}
	if err != nil {
		return nil, err
	}
	g.sort(m)
	return g, nil
}

func gatherOnce(rows trial.Rows, m *Manifest, q *quarantine, total int, superseded map[trial.Key]int) (*gathering, error) {
	g := &gathering{
		q: q, tallies: newTallies(), checkNumbers: map[string]int{}, hollow: map[stop.Code]int{}, faults: map[trial.ErrorKind]*fault{}, superseded: superseded,
		again: map[trial.Key]int{}, far: map[trial.Key]struct{}{},
		latency: make([]float32, 0, total), cost: make([]float32, 0, total), tokens: make([]float32, 0, total),
	}
	for _, c := range m.Checks {
		g.check(c.Name)
	}
	for row, err := range rows() {
		if err == nil {
			err = g.row(row)
		}
		if err != nil {
			return nil, fmt.Errorf("fold: %w", err)
		}
	}
	return g, nil
}

// row takes in one row.
func (g *gathering) row(row *trial.Row) error {
	if g.superseded[row.Key] > 0 {
		g.superseded[row.Key]--
		return nil
	}
	i, err := g.tallyOf(row)
	if err != nil {
		return err
	}
	t := g.at(i)
	if g.hasSeen(t, row.Key) {
		g.again[row.Key]++
		return nil
	}
	if row.At.After(g.ended) {
		g.ended = row.At
	}
	switch row.Outcome {
	case trial.Passed, trial.Failed:
		err = g.graded(t, i, row)
	case trial.Errored:
		g.errored(t, row)
		err = t.count(&t.errors)
	case trial.Skipped:
		g.skipped++
		err = t.count(&t.skipped)
	default:
		err = fmt.Errorf("case %q, repeat %d: there is no outcome %q", row.Case, row.Repeat, row.Outcome)
	}
	return err
}

// tallyOf finds the tally of a row's case, or begins one.
func (g *gathering) tallyOf(row *trial.Row) (int, error) {
	if w := row.Weight(); !(w > 0) || math.IsInf(w, 0) {
		return 0, fmt.Errorf("case %q: a weight of %g: weights are above 0", row.Case, w)
	}
	v := g.variants.number(row.Variant)
	if v > math.MaxUint16 {
		return 0, fmt.Errorf("more than %d variants", math.MaxUint16)
	}
	i, slot, ok := g.find(row.Case, uint16(v))
	if !ok {
		i = g.add(tally{id: strings.Clone(row.Case), line: math.MaxInt32, group: -1, reason: -1, variant: uint16(v), held: g.q.holds(row.Case)}, slot)
	}
	g.describe(g.at(i), row)
	return i, nil
}

// describe keeps what a row says of its case. All rows of a case say the same;
// should they not, it does not depend on which came first.
func (g *gathering) describe(t *tally, row *trial.Row) {
	t.weight = max(t.weight, row.Weight())
	t.line = min(t.line, int32(min(row.Line, math.MaxInt32)))
	if row.Group != "" && (t.group < 0 || row.Group > g.groups.list[t.group]) {
		t.group = g.groups.number(row.Group)
	}
}

// hasSeen marks a trial as seen.
func (g *gathering) hasSeen(t *tally, key trial.Key) bool {
	if key.Repeat < 1 || key.Repeat > 64 {
		_, seen := g.far[key]
		g.far[key] = struct{}{}
		return seen
	}
	bit := uint64(1) << (key.Repeat - 1)
	seen := t.seen&bit != 0
	t.seen |= bit
	return seen
}

func (g *gathering) graded(t *tally, i int, row *trial.Row) error {
	if row.Outcome == trial.Passed {
		t.passed++
	} else {
		g.explain(t, row)
	}
	t.score += fixed(row.Score, scoreUnit)
	t.cost += fixed(row.Run.Cost, costUnit)
	t.latency += fixed(row.Run.LatencyMS, latencyUnit)
	t.tokens += int64(row.Run.Tokens)
	if !t.held {
		g.figures(i, row)
	}
	g.spent(row)
	return t.count(&t.n)
}

// figures takes a graded trial into the figures of the whole.
func (g *gathering) figures(i int, row *trial.Row) {
	if row.Outcome == trial.Passed {
		g.passed++
		if code := row.Run.StopReason.Code; row.Run.Status == stop.RunFailed && code != stop.Refused {
			g.hollow[code]++
		}
	} else {
		g.failed++
	}
	g.latency = append(g.latency, float32(row.Run.LatencyMS/1000))
	g.cost = append(g.cost, float32(row.Run.Cost))
	g.tokens = append(g.tokens, float32(row.Run.Tokens))
	for k := range row.Marks {
		m := &row.Marks[k]
		c := g.check(m.Check)
		if m.Error != "" {
			c.errors++
			continue
		}
		n := c.of(i)
		n.n++
		if m.Pass {
			n.passed++
		}
	}
}

// spent adds up what a finished trial took.
func (g *gathering) spent(row *trial.Row) {
	g.latencyAll += fixed(row.Run.LatencyMS, latencyUnit)
	g.costAll += fixed(row.Run.Cost, costUnit)
	g.tokensAll += int64(row.Run.Tokens)
	for i := range row.Marks {
		g.judgeTokens += int64(row.Marks[i].Tokens)
		g.judgeCost += fixed(row.Marks[i].Cost, costUnit)
	}
}

func (g *gathering) errored(t *tally, row *trial.Row) {
	if !t.held {
		g.fault(row)
	}
	g.spent(row)
	g.explain(t, row)
}

// fault counts the error that a trial ended in.
func (g *gathering) fault(row *trial.Row) {
	kind, message := trial.InternalFault, ""
	if row.Fault != nil {
		kind, message = row.Fault.Kind, row.Fault.Message
	}
	for i := range row.Marks {
		if row.Marks[i].Error != "" {
			g.check(row.Marks[i].Check).errors++
		}
	}
	f := g.faults[kind]
	if f == nil {
		f = &fault{line: math.MaxInt}
		g.faults[kind] = f
	}
	f.count++
	if f.line == math.MaxInt || compareTrials(row.Line, row.Key, f.line, f.key) < 0 {
		f.line, f.key, f.message = row.Line, row.Key, shorten(message, 300)
	}
}

func compareTrials(lineA int, a trial.Key, lineB int, b trial.Key) int {
	return cmp.Or(cmp.Compare(lineA, lineB), cmp.Compare(a.Case, b.Case), cmp.Compare(a.Variant, b.Variant), cmp.Compare(a.Repeat, b.Repeat))
}

// check finds what is kept of a check, or begins it.
func (g *gathering) check(name string) *checkTally {
	i, ok := g.checkNumbers[name]
	if !ok {
		i = len(g.checks)
		g.checkNumbers[name] = i
		g.checks = append(g.checks, &checkTally{name: name})
	}
	return g.checks[i]
}

// sort brings the cases into the order of the dataset, then of the variants.
func (g *gathering) sort(m *Manifest) {
	rank := make([]int, len(g.variants.list))
	for v, name := range g.variants.list {
		rank[v] = slices.IndexFunc(m.Variants, func(i VariantInfo) bool { return i.Name == name })
		if rank[v] < 0 {
			rank[v] = len(m.Variants)
		}
	}
	g.order = make([]int32, g.len())
	for i := range g.order {
		g.order[i] = int32(i)
	}
	slices.SortFunc(g.order, func(i, j int32) int {
		a, b := g.at(int(i)), g.at(int(j))
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.id, b.id), cmp.Compare(rank[a.variant], rank[b.variant]),
			cmp.Compare(g.variants.list[a.variant], g.variants.list[b.variant]))
	})
}

// caseAt makes the i-th case in order.
func (g *gathering) caseAt(i int) CaseStats {
	t := g.at(int(g.order[i]))
	c := CaseStats{
		Case: exprenv.Case{
			ID: t.id, Variant: g.variants.list[t.variant], N: int(t.n), Passed: int(t.passed), Errors: int(t.errors),
			Score: figure(t.mean(t.score, scoreUnit)),
		},
		Skipped: int(t.skipped), Line: int(t.line), Cost: figure(t.mean(t.cost, costUnit)),
		LatencyMS: figure(t.mean(t.latency, latencyUnit)), Tokens: figure(t.mean(t.tokens, 1)),
	}
	rated(&c.Case)
	if t.group >= 0 {
		c.Group = g.groups.list[t.group]
	}
	if t.reason >= 0 {
		r := &g.reasons[t.reason]
		c.Why, c.Check = r.text, r.check
		c.Question, c.Expected, c.Actual = r.question, r.expected, r.actual
	}
	return c
}

// done lets go of what only the figures of the whole needed.
func (g *gathering) done() {
	g.table, g.checks, g.checkNumbers = nil, nil, nil
	g.latency, g.cost, g.tokens = nil, nil, nil
	g.again, g.far, g.superseded = nil, nil, nil
}
