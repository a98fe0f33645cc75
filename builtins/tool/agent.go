package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

// AgentConfig configures agent.
type AgentConfig struct {
	Ref component.AgentRef `yaml:"ref" required:"true" doc:"Spec to run. Its parameters are the tool's arguments."`
}

// Access implements tool.AccessDescriber. The access of the other spec is listed there.
func (*AgentConfig) Access() []string { return nil }

// WorstCase implements engine.BoundedTool. It counts a run of the other spec.
func (c *AgentConfig) WorstCase() []engine.CallBound {
	p, _ := c.Ref.Program().(*engine.Program)
	return []engine.CallBound{{Agent: p}}
}

// Agent runs another spec with its own plan, limits and tools. A call is a run within the
// run: it shares the journal, the events and the budget.
var Agent = component.New("agent", "Runs another spec as a sub-agent, with its own plan and the same journal and budget.",
	func() AgentConfig { return AgentConfig{} }, newAgent)

type agent struct {
	info    tool.Info
	program *engine.Program
}

var (
	_ tool.Tool        = (*agent)(nil)
	_ engine.AgentTool = (*agent)(nil)
)

func newAgent(c *AgentConfig, s tool.Settings) (tool.Tool, error) {
	p, _ := c.Ref.Program().(*engine.Program)
	if p == nil {
		return nil, errors.New("ref does not name a valid spec")
	}
	does := p.Description
	if does == "" {
		does = fmt.Sprintf("Asks the agent %s.", p.Name)
	}
	return &agent{toolInfo(s, "agent", does, parametersSchema(p.Parameters), p.Effect()), p}, nil
}

// Info implements tool.Tool.
func (t *agent) Info() tool.Info { return t.info }

// Call implements tool.Tool. It always fails: the engine runs the Program instead.
func (t *agent) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return nil, errors.New("an agent cannot be called as a tool")
}

// Program implements engine.AgentTool.
func (t *agent) Program() *engine.Program { return t.program }

// Parameters implements engine.AgentTool. In a guided step, the question includes the
// step's position in the plan.
func (t *agent) Parameters(args json.RawMessage, context *tool.PlanContext) (map[string]any, error) {
	if err := jsonvalue.CheckPrecision(args); err != nil {
		return nil, err
	}
	out, _ := jsonvalue.Plain(args).(map[string]any) // the arguments have been checked
	if question, ok := out["question"].(string); ok && context != nil {
		out["question"] = question + "\n\n" + context.Text
	}
	return out, nil
}

// parametersSchema returns the parameters of a spec as an input schema.
func parametersSchema(parameters []engine.Parameter) string {
	properties, required := map[string]json.RawMessage{}, []string{}
	for _, p := range parameters {
		properties[p.Name] = p.Schema
		if p.Required {
			required = append(required, p.Name)
		}
	}
	b, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	if err != nil {
		return `{"type": "object"}` // unreachable: the compiler has parsed every schema
	}
	return string(b)
}
