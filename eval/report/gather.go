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

// gatherer accumulates the data of rows.
type gatherer struct {
	tallies
	q                *quarantine
	variants, groups names
	checks           []*checkTally
	checkNumbers     map[string]int
	reasons          []reason
	order            []int32 // indexes of tallies in report order, set after all rows are read

	latency, cost, tokens []float32 // of graded trials, in seconds, dollars and tokens
	latencyAll, costAll   int64     // of finished trials, in small units
	tokensAll             int64

	passed, failed, skipped int
	vacuousPasses           map[stop.Code]int // trials that passed although their run failed
	faults                  map[trial.ErrorKind]*fault
	judgeTokens, judgeCost  int64
	ended                   time.Time

	superseded  map[trial.Key]int      // earlier rows of a key left to skip
	duplicates  map[trial.Key]int      // number of rows of a key after its first
	highRepeats map[trial.Key]struct{} // keys with a repeat above 64
}

// fault counts a kind of error. Its message is from the first such trial in report order.
type fault struct {
	count   int
	line    int
	key     trial.Key
	message string
}

// gather reads the rows. If a key has several rows, it reads them again and skips all but the last.
func gather(rows trial.Rows, m *Manifest, q *quarantine, total int) (*gatherer, error) {
	g, err := gatherOnce(rows, m, q, total, nil)
	if err == nil && len(g.duplicates) > 0 {
		g, err = gatherOnce(rows, m, q, total, g.duplicates)
	}
	if err != nil {
		return nil, err
	}
	g.sort(m)
	return g, nil
}

func gatherOnce(rows trial.Rows, m *Manifest, q *quarantine, total int, superseded map[trial.Key]int) (*gatherer, error) {
	g := &gatherer{
		q: q, tallies: newTallies(), checkNumbers: map[string]int{}, vacuousPasses: map[stop.Code]int{}, faults: map[trial.ErrorKind]*fault{}, superseded: superseded,
		duplicates: map[trial.Key]int{}, highRepeats: map[trial.Key]struct{}{},
		latency: make([]float32, 0, total), cost: make([]float32, 0, total), tokens: make([]float32, 0, total),
	}
	for _, c := range m.Checks {
		g.check(c.Name)
	}
	for row, err := range rows() {
		if err == nil {
			err = g.addRow(row)
		}
		if err != nil {
			return nil, fmt.Errorf("read rows: %w", err)
		}
	}
	return g, nil
}

// addRow adds one row.
func (g *gatherer) addRow(row *trial.Row) error {
	if g.superseded[row.Key] > 0 {
		g.superseded[row.Key]--
		return nil
	}
	i, err := g.tallyOf(row)
	if err != nil {
		return err
	}
	t := g.at(i)
	if g.markSeen(t, row.Key) {
		g.duplicates[row.Key]++
		return nil
	}
	if row.At.After(g.ended) {
		g.ended = row.At
	}
	switch row.Outcome {
	case trial.Passed, trial.Failed:
		err = g.addGraded(t, i, row)
	case trial.Errored:
		g.addErrored(t, row)
		err = t.count(&t.errors)
	case trial.Skipped:
		g.skipped++
		err = t.count(&t.skipped)
	default:
		err = fmt.Errorf("case %q, repeat %d: unknown outcome %q", row.Case, row.Repeat, row.Outcome)
	}
	return err
}

// tallyOf returns the index of the tally of a row's case, which it creates if needed.
func (g *gatherer) tallyOf(row *trial.Row) (int, error) {
	if w := row.Weight(); !(w > 0) || math.IsInf(w, 0) {
		return 0, fmt.Errorf("case %q: weight %g must be positive", row.Case, w)
	}
	v := g.variants.number(row.Variant)
	if v > math.MaxUint16 {
		return 0, fmt.Errorf("more than %d variants", math.MaxUint16)
	}
	i, slot, ok := g.find(row.Case, uint16(v))
	if !ok {
		i = g.add(tally{id: strings.Clone(row.Case), line: math.MaxInt32, group: -1, reason: -1, variant: uint16(v), quarantined: g.q.contains(row.Case)}, slot)
	}
	g.describe(g.at(i), row)
	return i, nil
}

// describe records the properties of a row's case. Rows of a case should agree; if they do not, the result does
// not depend on their order.
func (g *gatherer) describe(t *tally, row *trial.Row) {
	t.weight = max(t.weight, row.Weight())
	t.line = min(t.line, int32(min(row.Line, math.MaxInt32)))
	if row.Group != "" && (t.group < 0 || row.Group > g.groups.list[t.group]) {
		t.group = g.groups.number(row.Group)
	}
}

// markSeen reports whether a trial was seen before, and marks it.
func (g *gatherer) markSeen(t *tally, key trial.Key) bool {
	if key.Repeat < 1 || key.Repeat > 64 {
		_, seen := g.highRepeats[key]
		g.highRepeats[key] = struct{}{}
		return seen
	}
	bit := uint64(1) << (key.Repeat - 1)
	seen := t.seen&bit != 0
	t.seen |= bit
	return seen
}

func (g *gatherer) addGraded(t *tally, i int, row *trial.Row) error {
	if row.Outcome == trial.Passed {
		t.passed++
	} else {
		g.setReason(t, row)
	}
	t.score += toUnits(row.Score, scoreUnit)
	t.cost += toUnits(row.Run.Cost, costUnit)
	t.latency += toUnits(row.Run.LatencyMS, latencyUnit)
	t.tokens += int64(row.Run.Tokens)
	if !t.quarantined {
		g.addFigures(i, row)
	}
	g.addUsage(row)
	return t.count(&t.n)
}

// addFigures adds a graded trial to the overall statistics.
func (g *gatherer) addFigures(i int, row *trial.Row) {
	if row.Outcome == trial.Passed {
		g.passed++
		if code := row.Run.StopReason.Code; row.Run.Status == stop.RunFailed && code != stop.Refused {
			g.vacuousPasses[code]++
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

// addUsage adds up the usage of a finished trial.
func (g *gatherer) addUsage(row *trial.Row) {
	g.latencyAll += toUnits(row.Run.LatencyMS, latencyUnit)
	g.costAll += toUnits(row.Run.Cost, costUnit)
	g.tokensAll += int64(row.Run.Tokens)
	for i := range row.Marks {
		g.judgeTokens += int64(row.Marks[i].Tokens)
		g.judgeCost += toUnits(row.Marks[i].Cost, costUnit)
	}
}

func (g *gatherer) addErrored(t *tally, row *trial.Row) {
	if !t.quarantined {
		g.addFault(row)
	}
	g.addUsage(row)
	g.setReason(t, row)
}

// addFault counts the error of a trial.
func (g *gatherer) addFault(row *trial.Row) {
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

// check returns the tally of a check, which it creates if needed.
func (g *gatherer) check(name string) *checkTally {
	i, ok := g.checkNumbers[name]
	if !ok {
		i = len(g.checks)
		g.checkNumbers[name] = i
		g.checks = append(g.checks, &checkTally{name: name})
	}
	return g.checks[i]
}

// sort orders the cases as in the dataset, then by variant.
func (g *gatherer) sort(m *Manifest) {
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

// caseAt returns the i-th case in order.
func (g *gatherer) caseAt(i int) CaseStats {
	t := g.at(int(g.order[i]))
	c := CaseStats{
		Case: exprenv.Case{
			ID: t.id, Variant: g.variants.list[t.variant], N: int(t.n), Passed: int(t.passed), Errors: int(t.errors),
			Score: figure(t.mean(t.score, scoreUnit)),
		},
		Skipped: int(t.skipped), Line: int(t.line), Cost: figure(t.mean(t.cost, costUnit)),
		LatencyMS: figure(t.mean(t.latency, latencyUnit)), Tokens: figure(t.mean(t.tokens, 1)),
	}
	setRates(&c.Case)
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

// release releases the data that only the overall statistics need.
func (g *gatherer) release() {
	g.table, g.checks, g.checkNumbers = nil, nil, nil
	g.latency, g.cost, g.tokens = nil, nil, nil
	g.duplicates, g.highRepeats, g.superseded = nil, nil, nil
}
