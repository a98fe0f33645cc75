package fold

import (
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/exprenv"
)

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
func Decided(gates []dsl.Gate, c exprenv.Case, repeat int) bool {
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
func settled(g dsl.Gate, c exprenv.Case, open int) bool {
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
