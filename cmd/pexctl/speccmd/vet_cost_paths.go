package speccmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/costbound"
)

// bounding describes how to bound each figure without a bound.
func (b *specBounds) bounding() []string {
	var out []string
	t := b.Limited
	if !t.Calls.Known() {
		out = append(out, "to bound calls: set "+b.limit("max_tool_calls"))
	}
	if !t.Tokens.Known() {
		out = append(out, "to bound tokens: set "+b.limit("max_tokens")+b.requestBounds())
	}
	switch {
	case t.Cost.Known():
	case b.unpriced != "":
		out = append(out, "to bound the cost: "+b.price())
	default:
		out = append(out, "to bound the cost: set "+b.limit("max_cost"))
	}
	return out
}

// requestBounds describes how to bound tokens without a limit of the run, as an
// alternative to one; "" if that is impossible, as for the texts of embeddings.
func (b *specBounds) requestBounds() string {
	vectors := func(p costbound.Part) bool { return p.Vectors() && !p.Tokens.Known() }
	if !b.Limited.Calls.Known() || slices.ContainsFunc(b.Parts, vectors) {
		return ""
	}
	var more []string
	if b.Context == 0 && !b.Limited.Input.Known() {
		more = append(more, "pass --context N (the context window)")
	}
	if !b.Limited.Output.Known() {
		more = append(more, "set max_output_tokens of the LLM")
	}
	if len(more) == 0 {
		return ""
	}
	return ", or " + strings.Join(more, " and ")
}

// price describes how to add the missing price.
func (b *specBounds) price() string {
	return fmt.Sprintf("set cost of LLM %s, or pass --prices FILE", b.unpriced)
}

// gateHint describes how to satisfy a gate.
func (b *specBounds) gateHint(g *gate) string {
	const explain = "pexctl vet --cost shows the calculation"
	switch {
	case g.most == "0", g.limit == "" && len(b.Lines) == 0:
		return explain
	case g.limit == "":
		return "the largest part comes from " + b.Lines[0].Path + "; " + explain
	case slices.Contains(b.budgets, g.limit):
		return fmt.Sprintf("lower limits.%s to %s; %s", g.limit, g.most, explain)
	case g.limit == "max_cost" && b.unpriced != "":
		return b.price() + "; " + explain
	}
	return fmt.Sprintf("set limits.%s: %s%s; %s", g.limit, g.most, b.requestBounds(), explain)
}

// limit returns the name of a limit, with the place to add it.
func (b *specBounds) limit(name string) string {
	if b.limits == "" {
		return "limits." + name
	}
	return fmt.Sprintf("limits.%s (%s)", name, b.limits)
}
