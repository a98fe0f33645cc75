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

// Command is "pexctl tools".
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

// Only is a program's copy without llms: nobody is asked. Names leave of
// the tools only those, with the llms that they may ask; none = all.
func Only(p *engine.Program, names ...string) *engine.Program {
	out := *p
	out.Models = nil
	if len(names) > 0 {
		out.Tools = slices.DeleteFunc(slices.Clone(p.Tools), func(t tool.Spec) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return isOf(name, &t) })
		})
		out.Models = slices.DeleteFunc(slices.Clone(p.Models), func(m engine.ModelSpec) bool {
			return !slices.ContainsFunc(out.Tools, func(t tool.Spec) bool { return slices.Contains(t.LLMs, m.Name) })
		})
	}
	return &out
}

// isOf says that a name is a tool's of the spec, or may be one of the tools
// that stand behind it.
func isOf(name string, t *tool.Spec) bool {
	return name == t.Name || t.Type == "mcp" && strings.HasPrefix(name, tool.MemberName(t.Name, ""))
}

// toolNamed finds a tool of the spec, or says which there are.
func toolNamed(p *engine.Program, name string) (*tool.Spec, error) {
	all := make([]string, len(p.Tools))
	for i := range p.Tools {
		if all[i] = p.Tools[i].Name; isOf(name, &p.Tools[i]) {
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

// toolParameters is the parameters for a call of one tool: only those that its
// definition, or a guard, refers to have to be given.
func toolParameters(p *engine.Program, tool string, flags []string) (map[string]any, error) {
	var source struct {
		Tools  map[string]json.RawMessage `json:"tools"`
		Guards json.RawMessage            `json:"guards"`
	}
	_ = json.Unmarshal(p.Source, &source) // the compiler wrote it
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

// refersTo says whether a text of the spec, as JSON, refers to a parameter.
func refersTo(text, name string) bool {
	found, err := regexp.MatchString(`parameters\s*(\??\.\s*|\[\s*(\\"|'))`+regexp.QuoteMeta(name)+`\b`, text)
	return found || err != nil
}

// toolsBound are the tools that a run of a program would have, its servers
// asked; what is missing is told on stderr.
func toolsBound(c *ui.Call, p *engine.Program, host engine.Host) ([]runtime.BoundTool, error) {
	c.Trace.Mask(host.Secrets)
	bound, warnings, err := runtime.Tools(c.Context, p, engine.Input{RunID: "tools", Parameters: project.Defaults(p)}, host)
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

// Offered is what models are told of the tools of a program.
func Offered(c *ui.Call, p *engine.Program, host engine.Host) ([]tool.Info, error) {
	bound, err := toolsBound(c, p, host)
	return runtime.ToolInfos(bound), err
}
