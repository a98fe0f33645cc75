package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/text"
)

var (
	// selector matches a statistic that an expression uses.
	selector = text.Regexp(`\b(?:stats|baseline|case)(?:\??\.[A-Za-z_][A-Za-z0-9_]*|\["[^"]*"\]|\['[^']*'\])+`)
	// quoted matches a string literal in an expression.
	quoted = text.Regexp(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`")
	word   = text.Regexp(`[A-Za-z_][A-Za-z0-9_]*`)
)

// mentions reports whether an expression uses a name, as a variable or as a field.
func mentions(source, name string) bool {
	return slices.Contains(word().FindAllString(quoted().ReplaceAllString(source, ""), -1), name)
}

// figures lists the statistics that an expression uses, with their values.
func figures(source string, env map[string]any) string {
	place, _ := guard.Place("gates_each", nil)
	var out, listed []string
	for _, s := range selector().FindAllString(source, -1) {
		if slices.Contains(listed, s) {
			continue
		}
		listed = append(listed, s)
		v, p := guard.CompileValue(s, place)
		if p != nil {
			continue
		}
		if got, err := v.Eval(env); err == nil {
			if text, ok := plain(got); ok {
				out = append(out, s+" = "+text)
			}
		}
	}
	return strings.Join(out, ", ")
}

// plain formats a scalar. ok is false for lists and objects.
func plain(v any) (string, bool) {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', 4, 64), true
	case int, bool:
		return fmt.Sprint(v), true
	case string:
		return strconv.Quote(v), true
	}
	return "", false
}

// maxOpen is the maximum number of open trials for which Decided tries all outcomes.
const maxOpen = 64

// Decided reports whether the outcome of all gates on each case is certain for this case, whatever the outcome of
// its open trials (repeat minus those counted in c). These can then be skipped.
//
// It returns false if a gate looks at the whole evaluation, since skipping trials depending on the results of
// others would bias its statistics; if a gate uses the score; if more than 64 trials are open; or if no trial has
// been graded.
func Decided(gates []suitespec.Gate, c exprenv.Case, repeat int) bool {
	open := repeat - c.N - c.Errors
	if len(gates) == 0 || open > maxOpen || c.N == 0 {
		return false
	}
	for _, g := range gates {
		if !g.Each || !decidable(g.When.Source) || open > 0 && !settled(g, c, open) {
			return false
		}
	}
	return true
}

// decidable reports whether an expression depends only on the counts of a case.
func decidable(source string) bool {
	for _, name := range []string{"stats", "baseline", "score"} {
		if mentions(source, name) {
			return false
		}
	}
	return true
}

// settled reports whether a gate has the same result for all outcomes of the open trials.
func settled(g suitespec.Gate, c exprenv.Case, open int) bool {
	env := map[string]any{}
	var first, some bool
	for errored := 0; errored <= open; errored++ {
		for passed := 0; passed <= open-errored; passed++ {
			end := c
			end.Errors += errored
			end.N += open - errored
			end.Passed += passed
			setRates(&end)
			env["case"] = end
			pass, err := g.When.Eval(env)
			if err != nil || some && pass != first {
				return false
			}
			first, some = pass, true
		}
	}
	return true
}
