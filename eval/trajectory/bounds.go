package trajectory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/text"
)

// forbidden reports the forbidden tools that were called, each once, in the order of their first calls.
func (e *Expectation) forbidden(actual []Actual) []string {
	times, first := map[string]int{}, []Actual{}
	for _, a := range actual {
		if !slices.ContainsFunc(e.Forbidden, func(p string) bool { return text.Match(p, a.Tool) }) {
			continue
		}
		if times[a.Tool]++; times[a.Tool] == 1 {
			first = append(first, a)
		}
	}
	out := make([]string, len(first))
	for i, a := range first {
		out[i] = fmt.Sprintf("%s is forbidden and was called in step %s", a.Tool, a.Step)
		if n := times[a.Tool]; n > 1 {
			out[i] = fmt.Sprintf("%s is forbidden and was called %d times, first in step %s", a.Tool, n, a.Step)
		}
	}
	return out
}

// exceeded reports the bounds that a run exceeded.
func (b *Bounds) exceeded(t *exprenv.Trace) []string {
	var out []string
	for _, l := range []struct {
		name  string
		most  *int
		count int
	}{
		{"steps", b.Steps, Executed(t)},
		{"replans", b.Replans, t.Replans},
		{"tool calls", b.ToolCalls, t.ToolCalls},
		{"model calls", b.ModelCalls, t.ModelCalls},
		{"tokens", b.Tokens, t.Tokens},
	} {
		if l.most != nil && l.count > *l.most {
			out = append(out, exceeds(l.count, l.name, *l.most))
		}
	}
	if b.Cost != nil && t.Cost > *b.Cost {
		out = append(out, fmt.Sprintf("a cost of $%s exceeds $%s", dollars(t.Cost), dollars(*b.Cost)))
	}
	return out
}

// exceeds describes an exceeded bound. name is a plural noun.
func exceeds(count int, name string, most int) string {
	if count == 1 {
		return fmt.Sprintf("1 %s exceeds %d", strings.TrimSuffix(name, "s"), most)
	}
	return fmt.Sprintf("%d %s exceed %d", count, name, most)
}

func dollars(usd float64) string { return strconv.FormatFloat(usd, 'g', 6, 64) }

// Executed returns the number of steps that were started.
func Executed(t *exprenv.Trace) int {
	n := 0
	for _, s := range t.Steps {
		if s.Status != string(plan.Skipped) {
			n++
		}
	}
	return n
}
