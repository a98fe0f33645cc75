package engine

import "encoding/json"

// TraceOf is what a run came to, for the expressions of tests and checks.
// prompts are the texts of its model requests in the order they were asked for,
// nil where nobody kept them.
func TraceOf(res *Result, prompts []string) TraceEnv {
	t := TraceEnv{
		Steps: make([]StepEnv, len(res.Steps)), Tools: map[string]ToolUses{}, Calls: []CallEnv{}, Prompts: prompts,
		Status: string(res.Status), StopReason: string(res.StopReason.Code), Response: res.Response, Replans: res.Summary.Replans,
		ModelCalls: res.Usage.ModelCalls, ToolCalls: res.Usage.ToolCalls, Cost: res.Usage.CostUSD, Tokens: res.Usage.Total(), Warnings: res.Warnings,
	}
	for i := range res.Steps {
		st := &res.Steps[i]
		t.Steps[i] = st.env(res.Plan)
		for _, c := range st.ToolCalls {
			uses := t.Tools[c.Tool]
			uses.Calls++
			if c.Status != CallOK {
				uses.Errors++
			}
			t.Tools[c.Tool] = uses
			t.Calls = append(t.Calls, CallEnv{Step: st.ID, Tool: c.Tool, Args: argsOf(c.Args), Status: string(c.Status), Result: plainResult(c.Result)})
		}
	}
	return t
}

// argsOf is the arguments of a call, numbers with the digits they were written
// with; what is no object has none that expressions could name.
func argsOf(args json.RawMessage) map[string]any {
	if !json.Valid(args) {
		return nil
	}
	m, _ := decoded(args).(map[string]any)
	return m
}

// plainResult is what a tool gave, as expressions want it.
func plainResult(v any) any {
	if data, ok := v.(json.RawMessage); ok {
		return PlainJSON(data)
	}
	return v
}
