package speccmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/costbound"
)

// alternatives returns the alternative changes that would bound the figures without a
// bound, or nil if all have one.
func (b *specBounds) alternatives() []string {
	var out []string
	t := b.Limited
	if !t.Calls.Known() {
		out = append(out, "calls with "+b.limit("max_tool_calls"))
	}
	if !t.Tokens.Known() {
		way := "tokens with " + b.limit("max_tokens")
		if t.Calls.Known() {
			way += b.tokenBoundHint()
		}
		out = append(out, way)
	}
	switch {
	case t.Cost.Known():
	case b.unpriced != "":
		out = append(out, fmt.Sprintf("cost with a price: cost of LLM %s, or --prices FILE", b.unpriced))
	default:
		out = append(out, "cost with "+b.limit("max_cost"))
	}
	return out
}

// tokenBoundHint describes how to bound tokens without a limit of the run. Texts for
// embeddings have no such bound.
func (b *specBounds) tokenBoundHint() string {
	if slices.ContainsFunc(b.Parts, func(p costbound.Part) bool { return p.Vectors() && !p.Tokens.Known() }) {
		return ""
	}
	var more []string
	if b.Context == 0 && !b.Limited.Input.Known() {
		more = append(more, "--context N (the context window)")
	}
	if !b.Limited.Output.Known() {
		more = append(more, "max_output_tokens of the LLM")
	}
	if len(more) == 0 {
		return ""
	}
	return ", or " + strings.Join(more, " and ")
}

// limit returns the name of a limit, with the place to add it.
func (b *specBounds) limit(name string) string {
	if b.limits == "" {
		return "limits." + name
	}
	return fmt.Sprintf("limits.%s (%s)", name, b.limits)
}
