package costbound

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

// tools returns the worst case of calls of some tools: each time the most expensive one.
func (r *run) tools(node string, a engine.CallBound) tally {
	var t tally
	any := false
	for i := range r.program.Tools {
		spec := &r.program.Tools[i]
		if !slices.Contains(a.Tools, spec.Name) {
			continue
		}
		if one, asks := r.tool(node, spec); asks {
			t.max(one)
			any = true
		}
	}
	if !any {
		return t
	}
	n, times := r.calls(a)
	return t.times(node, n, times)
}

// tool returns the worst case of one call of a tool.
func (r *run) tool(node string, spec *tool.Spec) (t tally, asks bool) {
	config, ok := spec.Config.(engine.BoundedTool)
	if !ok {
		if len(spec.LLMs) == 0 {
			return t, false
		}
		why := unknown("the calls of tool " + spec.Name + " to " + spec.LLMs[0] + " are not known")
		return tally{parts: []Part{{Node: node, Tool: spec.Name, Role: "tool", Totals: why}}, total: why, limited: why}, true
	}
	for _, a := range config.WorstCase() {
		asks = true
		one := r.bound(node, a)
		for i := range one.parts {
			one.parts[i].Tool = spec.Name
		}
		t.add(one)
	}
	return t, asks
}

// calls returns the number of tool calls, limited by max_tool_calls.
func (r *run) calls(a engine.CallBound) (Count, []engine.Factor) {
	n := timesOf(a)
	if limit := r.toolCalls; limit > 0 && n.Exceeds(limit) {
		return most(limit), []engine.Factor{{N: limit, Text: fmt.Sprintf("limits.max_tool_calls %d", limit), Paths: []string{"limits.max_tool_calls"}}}
	}
	return n, a.Times
}
