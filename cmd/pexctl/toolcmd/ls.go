package toolcmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/host"
)

func toolsLsCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "ls", Aliases: []string{"list"}, Usage: "List the tools of a spec and the nodes that can call them", ArgsUsage: "SPEC",
		Description: ui.Help("",
			"pexctl tools ls spec.yaml",
			"pexctl tools ls spec.yaml --schema # Include descriptions and input schemas",
			"pexctl tools ls spec.yaml --offline # Take server tools from pex.lock",
			"pexctl tools ls spec.yaml -o json | jq '.tools[] | select(.effect == \"write\")'",
		),
		Flags: append(
			append(project.SpecFlags(), ui.LiveFlags()...),
			&cli.BoolFlag{Name: "schema", Usage: "Print the description and input schema that models receive"},
			&cli.BoolFlag{Name: "offline", Usage: "Start no server; list the tools that pex.lock pins"},
			project.TrustFlag(), ui.OutputFlag(),
		),
		Action: env.Action(withFlags(toolsLs), 1),
	}
}

// listedTool is a tool in a list.
type listedTool struct {
	Name           string          `json:"name"`
	Type           string          `json:"type"`
	Effect         tool.Effect     `json:"effect"`
	Approval       string          `json:"approval"` // never, always or an expression
	CalledBy       []string        `json:"called_by"`
	VisibleTo      []string        `json:"told_to"`
	TimeoutMS      int64           `json:"timeout_ms"` // 0 for an agent, which has its own limits
	MaxAttempts    int             `json:"max_attempts"`
	MaxOutputBytes int             `json:"max_output_bytes"`
	OutputFilter   string          `json:"output_filter,omitempty"`
	Fixed          []fixedArgument `json:"with"`
	Description    string          `json:"description"`
	Schema         json.RawMessage `json:"input_schema"` // as models receive it
	// For a server's tool: the entry of tools, the server's annotations, and
	// whether the lock file pins it.
	Server string      `json:"server,omitempty"`
	Hints  *tool.Hints `json:"hints,omitempty"`
	Pinned *bool       `json:"pinned,omitempty"`
}

// fixedArgument is an argument that the spec fixes.
type fixedArgument struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // as written: its texts may contain references
}

func toolsLs(c *call) error {
	p, spec, err := project.Compile(c.Call, diag.UnapprovedTool) // shown in the table
	if err != nil {
		return err
	}
	if !c.offline {
		if err := project.CheckTrust(c.Call, spec, project.HomeDir(c.Call, spec)); err != nil {
			return err
		}
	}
	o, err := project.OriginOf(c.Call, spec)
	if err != nil {
		return err
	}
	settings := project.SignIn(c.Call, spec, host.SettingsOf(c.Catalog, o, "", project.DefaultParameters(p)))
	settings.Offline = c.offline
	host, err := host.New(WithOnlyTools(p), settings)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	bound, err := toolsBound(c.Call, p, host)
	if err != nil {
		return err
	}
	all := toolsOf(p, bound)
	markPinned(all, bound, settings.Pins(p)())
	switch {
	case c.JSON:
		return ui.PrintJSON(c.Call, struct {
			Tools []listedTool `json:"tools"`
		}{all})
	case len(p.Tools) == 0:
		fmt.Fprintln(c.Stderr, "the spec has no tools")
	case len(all) > 0:
		printTools(c, all)
	}
	return nil
}

// toolsOf returns the tools of a program, with the nodes that see them.
func toolsOf(p *engine.Program, bound []runtime.BoundTool) []listedTool {
	infos := runtime.ToolInfos(bound)
	v := engine.ViewOf(p, engine.Input{Parameters: project.DefaultParameters(p)}, &engine.Result{}, nil, render.Epoch)
	v.Tools = infos
	calls, describes := toolNodes(p, v)
	all := make([]listedTool, len(infos))
	for i, info := range infos {
		t := bound[i].Spec
		all[i] = listedTool{
			Name: info.Name, Type: t.Type, Effect: info.Effect, Approval: cmp.Or(t.Approval.Source, "never"),
			CalledBy: append([]string{}, calls[info.Name]...), VisibleTo: append([]string{}, describes[info.Name]...),
			TimeoutMS: timeoutOf(&bound[i]).Milliseconds(), MaxAttempts: 1,
			MaxOutputBytes: cmp.Or(t.MaxOutputBytes, tool.DefaultMaxOutput), OutputFilter: t.OutputFilter.Source,
			Fixed: fixedOf(t), Description: info.Description, Schema: info.Input,
		}
		if info.Effect != tool.WriteEffect {
			all[i].MaxAttempts = max(1, t.Retry.MaxAttempts)
		}
	}
	return all
}

// markPinned adds whether the tools of servers are pinned.
func markPinned(all []listedTool, bound []runtime.BoundTool, pinned *host.Pins) {
	for i := range bound {
		entry, def := bound[i].Member()
		if def == nil {
			continue
		}
		is := false
		if e := pinned.Lock.Entry(pinned.Key, entry); e != nil {
			_, is = e.Tool(def.Name)
		}
		all[i].Server, all[i].Hints, all[i].Pinned = entry, &def.Hints, &is
	}
}

// timeoutOf returns the timeout of a call; 0 if only the limits of the called
// agent apply.
func timeoutOf(t *runtime.BoundTool) time.Duration {
	if _, agent := t.Tool.(engine.AgentTool); agent {
		return t.Spec.Timeout
	}
	return cmp.Or(t.Spec.Timeout, tool.DefaultTimeout)
}

// toolNodes returns which nodes call each tool, and which only describe it in
// prompts, in the order of the graph's nodes.
func toolNodes(p *engine.Program, v engine.View) (calls, describes map[string][]string) {
	calls, describes = map[string][]string{}, map[string][]string{}
	for _, n := range p.Graph.Nodes {
		node, ok := p.Nodes[n.ID].(engine.ToolUser)
		if !ok {
			continue
		}
		nodes := describes
		if engine.NodeIs[engine.ToolCaller](p, n.ID) {
			nodes = calls
		}
		for _, t := range node.Tools(v) {
			nodes[t.Name] = append(nodes[t.Name], n.ID)
		}
	}
	return calls, describes
}

func fixedOf(t *tool.Spec) []fixedArgument {
	out := []fixedArgument{}
	for _, f := range t.With {
		out = append(out, fixedArgument{f.Name, f.Value.JSON})
	}
	return out
}

func printTools(c *call, all []listedTool) {
	rows := [][]string{{"TOOL", "TYPE", "EFFECT", "APPROVAL", "CALLED BY", "VISIBLE TO", "TIMEOUT", "ATTEMPTS", "PINNED", "FIXED"}}
	for _, t := range all {
		attempts := "-"
		if t.MaxAttempts > 1 {
			attempts = fmt.Sprint(t.MaxAttempts)
		}
		timeout := "-"
		if t.TimeoutMS > 0 {
			timeout = text.Duration(time.Duration(t.TimeoutMS) * time.Millisecond)
		}
		rows = append(rows, []string{
			t.Name, t.Type, string(t.Effect), t.Approval, ui.CellList(t.CalledBy), ui.CellList(t.VisibleTo),
			timeout, attempts, pinnedText(t.Pinned), fixedText(t.Fixed),
		})
	}
	ui.TableOrRecords(c.Stdout, ui.WithoutEmpty(rows))
	if !c.schema {
		return
	}
	for _, t := range all {
		var indented bytes.Buffer
		if json.Indent(&indented, t.Schema, "", "  ") != nil {
			indented.Reset()
			indented.Write(t.Schema)
		}
		text := fmt.Sprintf("\n%s: %s\n%s\n", t.Name, strings.TrimSpace(t.Description), indented.String())
		fmt.Fprint(c.Stdout, ui.Safe(c.Stdout, text))
	}
}

func pinnedText(pinned *bool) string {
	switch {
	case pinned == nil:
		return "-"
	case *pinned:
		return "yes"
	}
	return "no"
}

func fixedText(fixed []fixedArgument) string {
	var out []string
	for _, f := range fixed {
		value := string(f.Value)
		out = append(out, f.Name+"="+value)
	}
	slices.Sort(out)
	return ui.CellList(out)
}
