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
	// selector is a figure that an expression names.
	selector = text.Regexp(`\b(?:stats|baseline|case)(?:\??\.[A-Za-z_][A-Za-z0-9_]*|\["[^"]*"\]|\['[^']*'\])+`)
	// quoted is a text in an expression.
	quoted = text.Regexp(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`")
	word   = text.Regexp(`[A-Za-z_][A-Za-z0-9_]*`)
)

// mentions says whether an expression names something: as a name of its own or
// as a field, but not within a text.
func mentions(source, name string) bool {
	return slices.Contains(word().FindAllString(quoted().ReplaceAllString(source, ""), -1), name)
}

// figures are the figures that an expression names, as they are.
func figures(source string, env map[string]any) string {
	place, _ := guard.Place("gates_each", nil)
	var out, seen []string
	for _, s := range selector().FindAllString(source, -1) {
		if slices.Contains(seen, s) {
			continue
		}
		seen = append(seen, s)
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

// plain is a figure as text; lists and objects are none.
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

// maxOpen is how many trials to go are thought through.
const maxOpen = 64

// Decided says whether the gates that look at each case have come to the
// answer for this one, however its trials to come end: all repeat of them are
// counted, those that are still to run may pass, fail or end in an error. They
// may then be skipped.
//
// It is never so where a gate looks at the whole: trials that are left out
// because of how the others went would bend the figures. Nor is it where a gate
// asks for the case's score, or where more than 64 trials are to go. A case of
// which no trial was graded is never decided: something is to be known of it.
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

// decidable says that an expression depends on nothing but a case's counts.
func decidable(source string) bool {
	for _, name := range []string{"stats", "baseline", "score"} {
		if mentions(source, name) {
			return false
		}
	}
	return true
}

// settled tries every way in which the open trials may end.
func settled(g suitespec.Gate, c exprenv.Case, open int) bool {
	env := map[string]any{}
	var first, known bool
	for errored := 0; errored <= open; errored++ {
		for passed := 0; passed <= open-errored; passed++ {
			end := c
			end.Errors += errored
			end.N += open - errored
			end.Passed += passed
			rated(&end)
			env["case"] = end
			pass, err := g.When.Eval(env)
			if err != nil || known && pass != first {
				return false
			}
			first, known = pass, true
		}
	}
	return true
}
