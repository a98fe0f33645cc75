package assertion

import (
	"cmp"
	"context"
	"strings"

	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trajectory"
	"github.com/pexctl/pex/eval/trial"
)

// TrajectoryConfig configures the check trajectory.
type TrajectoryConfig struct {
	Match         string                 `yaml:"match" enum:"exact|in_order|any_order|subset|superset" doc:"exact: exactly these calls in this order; in_order: other calls may occur in between; any_order: exactly these calls in any order; subset: only calls from this list; superset: at least these calls in any order."`
	Tools         component.Value        `yaml:"tools" vars:"case,parameters" doc:"Expected calls: names, patterns (read_*), or {tool, args, compare, fields} with the expected arguments in args. []: no calls; not set: calls are not compared."`
	Args          string                 `yaml:"args" enum:"exact|partial|ignore" doc:"How arguments are compared. exact: equal, without others; partial: the expected ones exist and are equal, at any depth; ignore: not compared."`
	Fields        map[string]string      `yaml:"fields" enum:"exact|partial|ignore" doc:"How single arguments are compared, by name, such as {request_id: ignore}."`
	ArgsOf        map[string]ArgsCompare `yaml:"args_of" doc:"How the arguments of single tools are compared, by name or pattern."`
	Forbidden     []string               `yaml:"forbidden" doc:"Tools that must not be called: names or patterns. Denied calls count."`
	MaxSteps      *int                   `yaml:"max_steps" min:"0" doc:"Maximum number of steps started."`
	MaxReplans    *int                   `yaml:"max_replans" min:"0" doc:"Maximum number of replans."`
	MaxToolCalls  *int                   `yaml:"max_tool_calls" min:"0" doc:"Maximum number of tool calls."`
	MaxModelCalls *int                   `yaml:"max_model_calls" min:"0" doc:"Maximum number of model calls."`
	MaxTokens     *int                   `yaml:"max_tokens" min:"0" doc:"Maximum number of input and output tokens."`
	MaxCost       *float64               `yaml:"max_cost" min:"0" doc:"Maximum cost in USD."`
}

// ArgsCompare configures how the arguments of a tool are compared.
type ArgsCompare struct {
	Compare string            `yaml:"compare" enum:"exact|partial|ignore" doc:"How all arguments are compared."`
	Fields  map[string]string `yaml:"fields" enum:"exact|partial|ignore" doc:"How single arguments are compared, by name."`
}

// Trajectory checks the tool calls and limits of a run.
var Trajectory = component.New("trajectory", "The tool calls of the run, their arguments, and the steps, calls, tokens and cost it used.",
	func() TrajectoryConfig { return TrajectoryConfig{Match: "in_order", Args: "partial"} }, newTrajectory)

type trajectoryCheck struct {
	tools    component.Value
	expected trajectory.Expectation
}

var _ trial.Check = (*trajectoryCheck)(nil)

func newTrajectory(c *TrajectoryConfig, _ trial.CheckSettings) (trial.Check, error) {
	t := &trajectoryCheck{tools: c.Tools, expected: trajectory.Expectation{
		Match: trajectory.Match(c.Match), Rule: rule(c.Args, c.Fields), Tools: map[string]trajectory.Rule{}, Forbidden: c.Forbidden,
		Bounds: trajectory.Bounds{Steps: c.MaxSteps, Replans: c.MaxReplans, ToolCalls: c.MaxToolCalls, ModelCalls: c.MaxModelCalls, Tokens: c.MaxTokens, Cost: c.MaxCost},
	}}
	for tool, a := range c.ArgsOf {
		t.expected.Tools[tool] = rule(a.Compare, a.Fields)
	}
	if !c.Tools.IsZero() {
		// Templates are not rendered yet: only the format is checked before a run.
		written, err := schema.Decode(c.Tools.JSON)
		if err != nil {
			return nil, err
		}
		if t.expected.Calls, err = trajectory.ParseCalls(written); err != nil {
			return nil, err
		}
	}
	return t, t.expected.Check()
}

func rule(compare string, fields map[string]string) trajectory.Rule {
	out := trajectory.Rule{Compare: trajectory.Compare(compare), Fields: map[string]trajectory.Compare{}}
	for name, word := range fields {
		out.Fields[name] = trajectory.Compare(word)
	}
	return out
}

// Check implements trial.Check.
func (t *trajectoryCheck) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) {
	expected := t.expected
	if !t.tools.IsZero() {
		calls, err := renderValue(t.tools, s)
		if err != nil {
			return trial.Mark{}, err
		}
		if expected.Calls, err = trajectory.ParseCalls(calls); err != nil {
			return trial.Mark{}, err
		}
		if err := expected.Check(); err != nil {
			return trial.Mark{}, err
		}
	}
	r := expected.Compare(s.Result.Steps, &s.Trace)
	m := scored(r.Pass, r.Score, expectedCalls(expected.Calls), actualCalls(s), cmp.Or(r.Summary(), "no forbidden tool was called, and all limits were met"))
	if !r.Pass {
		m.Diff = r.Diff()
	}
	return m, nil
}

// expectedCalls lists the expected tools, in order.
func expectedCalls(calls []trajectory.Call) string {
	out := make([]string, len(calls))
	for i := range calls {
		out[i] = calls[i].Tool
	}
	return strings.Join(out, ", ")
}

// actualCalls lists the called tools, in order.
func actualCalls(s *trial.Subject) string {
	var out []string
	for i := range s.Result.Steps {
		for _, c := range s.Result.Steps[i].ToolCalls {
			out = append(out, c.Tool)
		}
	}
	return strings.Join(out, ", ")
}
