package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// truncationText explains a truncated reply: after how many tokens it was cut off, and
// which key raises the limit.
func truncationText(p *engine.Program, llm string, r *model.Reply) string {
	key := outputKey(llm)
	text := fmt.Sprintf("cut off after %d output tokens", r.Usage.Output)
	i := slices.IndexFunc(p.Models, func(m engine.ModelSpec) bool { return m.Name == llm })
	if i < 0 {
		return text
	}
	m := &p.Models[i]
	if r.Bound != nil && r.Bound.Limit != "" {
		return fmt.Sprintf("%s: %s left room for %d tokens; raise it, or set %s", text, r.Bound.Limit, r.Bound.Tokens, key)
	}
	if most := m.Params.MaxOutputTokens; most > 0 {
		return fmt.Sprintf("%s: %s is %d", text, key, most)
	}
	if m.Cost != nil && r.Bound != nil && r.Bound.Tokens == m.Cost.MaxOutput {
		return fmt.Sprintf("%s: %s writes at most %d tokens in one reply", text, m.Params.Model, r.Bound.Tokens)
	}
	for _, limit := range []struct {
		key string
		on  bool
	}{{"limits.max_cost", p.Limits.MaxCost > 0}, {"limits.max_tokens", p.Limits.MaxTokens > 0}} {
		if limit.on {
			return fmt.Sprintf("%s: under %s a reply has at most %d unless %s is set", text, limit.key, model.DefaultOutput, key)
		}
	}
	return text + ": set " + key
}

// outputKey returns the key that limits the output of an LLM. For an LLM that a role
// derives from an entry, such as main+planner, it is a key of the role.
func outputKey(llm string) string {
	if base, role, derived := strings.Cut(llm, "+"); derived && role != "" {
		return strings.TrimRight(role, "+") + ".max_output_tokens"
	} else if strings.Contains(base, ".") {
		return base + ".max_output_tokens"
	}
	return "llms." + llm + ".max_output_tokens"
}
