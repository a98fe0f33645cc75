package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// ToolConfig configures a `type: tool` node.
type ToolConfig struct {
	Tool string                        `yaml:"tool" required:"true" doc:"Tool to call."`
	Args map[string]component.Template `yaml:"args" vars:"parameters,steps,@node" doc:"Arguments. A value that is a single reference keeps the JSON type of its target."`
}

// Tool calls one tool of the spec.
var Tool = component.New("tool", "Calls one tool with fixed arguments.",
	func() ToolConfig { return ToolConfig{} },
	func(c *ToolConfig, s engine.NodeSettings) (engine.Node, error) { return &toolNode{c, s.ID}, nil })

type toolNode struct {
	cfg *ToolConfig
	id  string
}

var _ engine.Node = (*toolNode)(nil)

// Run calls the tool. Its output is the node's result.
func (t *toolNode) Run(s engine.Scope) error {
	id := visitID(s, t.id)
	s = s.Child(id)
	began := s.Now()
	v := s.View()
	x := valuesOf(&v, t.id)
	info, _ := findTool(v.Tools, t.cfg.Tool)
	args := make(map[string]any, len(t.cfg.Args))
	for _, k := range slices.Sorted(maps.Keys(t.cfg.Args)) {
		args[k] = toTyped(t.cfg.Args[k].Render(x.lookup), isString(info.Input, k))
	}
	rec, err := startStep(s, id, "call "+t.cfg.Tool)
	if err != nil {
		return err
	}
	call, _, err := s.Tool("tool.0", engine.Invocation{Tool: t.cfg.Tool, Args: jsonvalue.Encode(args), StepID: id, Step: &rec})
	if err != nil {
		if call.Status != "" {
			rec.ToolCalls = []tool.Record{call}
		}
		return recordStopped(s, rec, err)
	}
	rec.ToolCalls = []tool.Record{call}
	rec.Status, rec.Result = plan.OK, call.Text()
	if call.Status != tool.CallOK {
		rec.Status, rec.Result, rec.Error = plan.Failed, "", fmt.Sprintf("%s: %s", t.cfg.Tool, call.Text())
	}
	rec.DurationMS = (s.Now() - began).Milliseconds()
	recordResult(s, t.id, rec)
	return nil
}

// isString reports whether the schema declares the property as a string.
func isString(schema json.RawMessage, name string) bool {
	var in inputSchema
	return json.Unmarshal(schema, &in) == nil && in.Properties[name].Type == "string"
}
