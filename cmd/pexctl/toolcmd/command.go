package toolcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/failure"
)

// Command returns "pexctl tools".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "tools", Usage: "List, call and pin the tools of a spec",
		Description: ui.Help("",
			"pexctl tools ls spec.yaml # Effects, approvals and callers",
			`pexctl tools call spec.yaml clock --args '{}' # Call one tool`,
			"pexctl tools lock spec.yaml # Pin the tools of MCP servers in pex.lock",
		),
		Subcommands: []*cli.Command{toolsLsCommand(env), toolsCallCommand(env), toolsLockCommand(env)},
	}
}

// WithOnlyTools returns a copy of a program without LLMs and with only the named tools and
// the LLMs that they use; without names it has all tools.
func WithOnlyTools(p *engine.Program, names ...string) *engine.Program {
	out := *p
	out.Models = nil
	if len(names) > 0 {
		out.Tools = slices.DeleteFunc(slices.Clone(p.Tools), func(t tool.Spec) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return mayBeTool(name, &t) })
		})
		out.Models = slices.DeleteFunc(slices.Clone(p.Models), func(m engine.ModelSpec) bool {
			return !slices.ContainsFunc(out.Tools, func(t tool.Spec) bool { return slices.Contains(t.LLMs, m.Name) })
		})
	}
	return &out
}

// mayBeTool reports whether a name is that of a tool of the spec, or may be a tool of
// the server that it represents.
func mayBeTool(name string, t *tool.Spec) bool {
	return name == t.Name || t.Type == "mcp" && strings.HasPrefix(name, tool.MemberName(t.Name, ""))
}

// toolNamed returns a tool of the spec, or an error with the existing ones.
func toolNamed(p *engine.Program, name string) (*tool.Spec, error) {
	all := make([]string, len(p.Tools))
	for i := range p.Tools {
		if all[i] = p.Tools[i].Name; mayBeTool(name, &p.Tools[i]) {
			return &p.Tools[i], nil
		}
	}
	near := ui.Nearest(name, all)
	switch {
	case len(all) == 0:
		return nil, failure.Usagef("the spec has no tools")
	case name == "":
		return nil, failure.Usagef("no tool given; the spec has %s", ui.List(all))
	case near != "":
		return nil, failure.Usagef("unknown tool %q; did you mean %s?", name, near)
	}
	return nil, failure.Usagef("unknown tool %q; the spec has %s", name, ui.List(all))
}

// toolParameters returns the parameters for a call of one tool. Only those that
// its definition or a guard refers to are required.
func toolParameters(p *engine.Program, tool string, flags []string) (map[string]any, error) {
	var source struct {
		Tools  map[string]json.RawMessage `json:"tools"`
		Guards json.RawMessage            `json:"guards"`
	}
	_ = json.Unmarshal(p.Source, &source) // written by the compiler
	text := string(source.Tools[tool]) + string(source.Guards)
	relaxed := *p
	relaxed.Parameters = slices.Clone(p.Parameters)
	for i := range relaxed.Parameters {
		q := &relaxed.Parameters[i]
		q.Required = q.Required && refersTo(text, q.Name) && q.Name != "question"
	}
	params, err := dsl.Inputs(&relaxed, "", flags, nil)
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	if _, asked := params["question"]; !asked && refersTo(text, "question") {
		return nil, failure.Usagef("tool %s, or a guard, uses the question; add -p question=...", tool)
	}
	return params, nil
}

// refersTo reports whether a text of the spec, as JSON, refers to a parameter.
func refersTo(text, name string) bool {
	found, err := regexp.MatchString(`parameters\s*(\??\.\s*|\[\s*(\\"|'))`+regexp.QuoteMeta(name)+`\b`, text)
	return found || err != nil
}

// toolsBound returns the tools that a run of a program would have, including
// those of servers. It prints missing ones on stderr.
func toolsBound(c *ui.Call, p *engine.Program, host engine.Host) ([]runtime.BoundTool, error) {
	c.Trace.Mask(host.Secrets)
	bound, warnings, err := runtime.Tools(c.Context, p, engine.Input{RunID: "tools", Parameters: project.DefaultParameters(p)}, host)
	for _, w := range warnings {
		fmt.Fprintln(c.Stderr, "warning:", tty.Safe(w))
	}
	if lost := host.Close(); lost != nil {
		err = errors.Join(err, lost)
	}
	if err != nil {
		return nil, failure.Infra(err)
	}
	return bound, nil
}

// ToolInfos returns the descriptions that models receive of a program's tools.
func ToolInfos(c *ui.Call, p *engine.Program, host engine.Host) ([]tool.Info, error) {
	bound, err := toolsBound(c, p, host)
	return runtime.ToolInfos(bound), err
}
