package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// Charge is what a budget paid for a call of which nobody knows what it took:
// its answer was lost, or is not there yet.
type Charge struct {
	Tokens  int     `json:"tokens,omitempty"`
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// charges are those of a tree of runs, by the path of the call.
type charges map[string]Charge

// beyond is the sum of those that others do not have.
func (c charges) beyond(others charges) (sum Charge) {
	for _, path := range slices.Sorted(maps.Keys(c)) { // sums of dollars depend on their order
		if _, known := others[path]; !known {
			sum.Tokens += c[path].Tokens
			sum.CostUSD += c[path].CostUSD
		}
	}
	return sum
}

// charge notes that a call is paid for by what is held for it.
func (s *scope) charge(name string, held reservation) {
	s.r.charges[joinPath(s.Path(), name)] = Charge{held.tokens, held.cost}
}

// uncharge notes that it is known what a call took.
func (s *scope) uncharge(name string, held reservation) {
	if held.held {
		delete(s.r.charges, joinPath(s.Path(), name))
	}
}

// unanswered is what a call counts with that gave nothing: all that is held for
// it where it was cut, or its answer was lost; else nothing.
func (s *scope) unanswered(name, llm string, held reservation, err error) reservation {
	f, failed := errors.AsType[*journal.Failure](err)
	if failed && f.Code != kernel.FailureUnknown && !keptModelError(f).Charged {
		s.uncharge(name, held)
		return reservation{}
	}
	if failed && held.held {
		s.Record(Warned{Text: fmt.Sprintf("an answer of llm %s was lost, and counts with the %d tokens that it may have taken: %s", llm, held.tokens, f.Message)})
	}
	return held
}
