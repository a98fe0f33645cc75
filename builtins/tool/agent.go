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

// AgentConfig is the settings of agent.
type AgentConfig struct {
	Ref component.AgentRef `yaml:"ref" required:"true" doc:"Spec to run. Its parameters are the tool's arguments."`
}

// Access implements tool.AccessDescriber: nothing but what is in the other spec.
func (*AgentConfig) Access() []string { return nil }

// WorstCase implements engine.BoundedTool: a run of the other spec.
func (c *AgentConfig) WorstCase() []engine.CallBound {
	p, _ := c.Ref.Program().(*engine.Program)
	return []engine.CallBound{{Agent: p}}
}

// Agent runs another spec. A call is a run within the run, in its journal and
// events and on its budget; it has a plan, limits and tools of its own.
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
		return nil, errors.New("ref names no spec that compiles")
	}
	does := p.Description
	if does == "" {
		does = fmt.Sprintf("Asks the agent %s.", p.Name)
	}
	return &agent{about(s, "agent", does, parametersSchema(p.Parameters), p.Effect()), p}, nil
}

// Info implements tool.Tool.
func (t *agent) Info() tool.Info { return t.info }

// Call implements tool.Tool: an agent is no effect, and is not called.
func (t *agent) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return nil, errors.New("an agent is run, not called")
}

// Program implements engine.AgentTool.
func (t *agent) Program() *engine.Program { return t.program }

// Parameters implements engine.AgentTool. In a guided step the question also says
// where in the plan the step is.
func (t *agent) Parameters(args json.RawMessage, context *tool.PlanContext) (map[string]any, error) {
	if err := jsonvalue.CheckPrecision(args); err != nil {
		return nil, err
	}
	out, _ := jsonvalue.Plain(args).(map[string]any) // the arguments were checked
	if question, ok := out["question"].(string); ok && context != nil {
		out["question"] = question + "\n\n" + context.Text
	}
	return out, nil
}

// parametersSchema is the input schema of a spec: its parameters.
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
		return `{"type": "object"}` // the compiler has read every schema
	}
	return string(b)
}
