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

// forbidden names the tools that were called and must not be, each once, in the
// order of their first calls.
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

// passed names the bounds that a run passed.
func (b *Bounds) passed(t *exprenv.Trace) []string {
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
			out = append(out, more(l.count, l.name, *l.most))
		}
	}
	if b.Cost != nil && t.Cost > *b.Cost {
		out = append(out, fmt.Sprintf("a cost of $%s is more than $%s", dollars(t.Cost), dollars(*b.Cost)))
	}
	return out
}

// more is a bound that was passed, in words; name is of several.
func more(count int, name string, most int) string {
	if count == 1 {
		return fmt.Sprintf("1 %s is more than %d", strings.TrimSuffix(name, "s"), most)
	}
	return fmt.Sprintf("%d %s are more than %d", count, name, most)
}

func dollars(usd float64) string { return strconv.FormatFloat(usd, 'g', 6, 64) }

// Executed counts the steps of a run that were begun.
func Executed(t *exprenv.Trace) int {
	n := 0
	for _, s := range t.Steps {
		if s.Status != string(plan.Skipped) {
			n++
		}
	}
	return n
}
