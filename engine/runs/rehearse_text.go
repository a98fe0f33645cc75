package runs

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/text"
)

// Lines describes what a fork would do, for people.
func (r *Rehearsal) Lines() []string {
	var out []string
	if p := r.Replayed; p.ModelCalls+p.ToolCalls == 0 {
		out = append(out, "replays no call")
	} else {
		spent := text.Count(p.Input+p.Output, "token")
		if p.CostUSD > 0 {
			spent += ", " + dollars(p.CostUSD)
		}
		out = append(out, fmt.Sprintf("replays %s and %s (%s), at no cost", text.Count(p.ModelCalls, "model call"), text.Count(p.ToolCalls, "tool call"), spent))
	}
	for i := range r.Live {
		out = append(out, "continues live at "+r.Live[i].String())
	}
	if r.Fails != nil {
		out = append(out, "fails at "+r.Fails.String())
	}
	if len(r.Live) == 0 && r.Fails == nil {
		out = append(out, "makes no live call: it ends as the run did")
	}
	if r.Dropped > 0 {
		out = append(out, "drops "+text.Count(r.Dropped, "recorded call"))
	}
	if len(r.Live) > 0 {
		out = append(out, "worst case of the live part: "+worstText(r.WorstCase))
	}
	return out
}

// String returns the call and how it differs from the recorded one.
func (c *RehearsedCall) String() string {
	what := c.Name
	if c.Role != "" {
		what = strings.TrimSpace(c.Role + " " + c.Name)
	}
	s := c.Path + " (" + what + ")"
	switch classes := make([]string, len(c.Drift)); {
	case !c.Recorded:
		return s + ", which the run did not call"
	case len(classes) == 0:
		return s + ", with the recorded request"
	default:
		for i, d := range c.Drift {
			classes[i] = string(d)
		}
		return s + ", with another request: " + strings.Join(classes, ", ")
	}
}

// worstText returns the bounds of a worst case.
func worstText(t costbound.Totals) string {
	bound := func(known bool, most, what string) string {
		if known {
			return "at most " + most
		}
		return "any number of " + what
	}
	cost := "an unknown cost (" + t.Cost.Unbounded + ")"
	if t.Cost.Known() {
		cost = fmt.Sprintf("at most $%.4f", t.Cost.Most)
	}
	return strings.Join([]string{
		bound(t.Calls.Known(), text.Count(t.Calls.Most, "model call"), "model calls"),
		bound(t.Tokens.Known(), text.Count(t.Tokens.Most, "token"), "tokens"), cost,
	}, ", ")
}
