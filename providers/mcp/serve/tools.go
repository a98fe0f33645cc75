package serve

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

// agentTools describes agents as tools, sorted by name. The names of the tools for runs are
// theirs.
func agentTools(agents map[string]*engine.Program) (out []*sdk.Tool) {
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		if !isRunTool(name) {
			out = append(out, agentTool(name, agents[name]))
		}
	}
	return out
}

// agentTool describes an agent as a tool.
func agentTool(name string, p *engine.Program) *sdk.Tool {
	t := &sdk.Tool{
		Name: name, Description: cmp.Or(p.Description, "Runs the agent "+name+"."),
		InputSchema: p.ParametersSchema(), Annotations: annotations(effect(p)),
	}
	if schema := outputSchema(p); schema != nil {
		t.OutputSchema = schema
	}
	return t
}

// outputSchema returns the schema of the structured answers of an agent, or nil. Clients of
// older protocols accept only schemas of objects.
func outputSchema(p *engine.Program) json.RawMessage {
	if p.Output == nil || p.Output.Schema.IsZero() {
		return nil
	}
	schema := p.Output.Schema.Current()
	var of struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(schema, &of) != nil || of.Type != "object" {
		return nil
	}
	return schema
}

// effect returns the strongest effect of the tools of a program and of its agents. Tools whose
// effect is not known count as writes.
func effect(p *engine.Program) tool.Effect {
	order := []tool.Effect{tool.ReadEffect, tool.IdempotentEffect, tool.WriteEffect}
	strongest := 0
	add := func(e tool.Effect) {
		i := slices.Index(order, e)
		if i < 0 {
			i = len(order) - 1
		}
		strongest = max(strongest, i)
	}
	for i := range p.Tools {
		add(p.Tools[i].Effect)
	}
	for _, agent := range p.Agents {
		add(effect(agent))
	}
	return order[strongest]
}

// annotations are the hints about a tool with an effect. A repeated call is another run, so
// only runs that read can be repeated.
func annotations(e tool.Effect) *sdk.ToolAnnotations {
	reads, destroys := e == tool.ReadEffect, e == tool.WriteEffect
	return &sdk.ToolAnnotations{ReadOnlyHint: reads, IdempotentHint: reads, DestructiveHint: &destroys}
}

// The tools for runs.
const (
	runGet    = "run_get"
	runAnswer = "run_answer"
	runCancel = "run_cancel"
)

func isRunTool(name string) bool { return name == runGet || name == runAnswer || name == runCancel }

const runGetInput = `{
	"type": "object", "required": ["run"], "additionalProperties": false,
	"properties": {
		"run": {"type": "string", "description": "The id of the run."},
		"wait": {"type": "boolean", "default": true, "description": "Wait a while for the run to end or to ask. With false, return at once."}
	}
}`

const runAnswerInput = `{
	"type": "object", "required": ["run", "answer"], "additionalProperties": false,
	"properties": {
		"run": {"type": "string", "description": "The id of the run."},
		"path": {"type": "string", "description": "The path of the question. Required if several are open."},
		"answer": {"type": "string", "description": "What the user decided: approve, deny:REASON, edit:JSON with other arguments, or the text that answers the question."}
	}
}`

const runCancelInput = `{
	"type": "object", "required": ["run"], "additionalProperties": false,
	"properties": {"run": {"type": "string", "description": "The id of the run."}}
}`

// addRunTools adds the tools for runs.
func (s *Server) addRunTools() {
	for _, t := range []struct {
		name, description, input string
		effect                   tool.Effect
		handler                  sdk.ToolHandler
	}{
		{runGet, "Gets the state of a run: its answer, or the decision that it waits for. Waits a while for a run that is in progress.", runGetInput, tool.ReadEffect, s.getRun},
		{runAnswer, "Passes on the user's decision about an open question of a run, and waits for the run. Ask the user before each call; never decide for the user. A client that can show a form asks the user itself, whatever the answer.", runAnswerInput, tool.WriteEffect, s.answerRun},
		{runCancel, "Cancels a run. Calls in flight that write finish first.", runCancelInput, tool.WriteEffect, s.cancelRun},
	} {
		of := &sdk.Tool{Name: t.name, Description: t.description, InputSchema: json.RawMessage(t.input), Annotations: annotations(t.effect)}
		s.runTools = append(s.runTools, of)
		s.mcp.AddTool(of, t.handler)
	}
}
