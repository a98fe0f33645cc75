package toolcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
)

func toolsCallCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "call", Usage: "Call one tool of a spec without storing a run", ArgsUsage: "SPEC NAME",
		Description: ui.Help("Asks for approval before a write. Exits with 1 if the tool fails or the call is denied, with 2 if the arguments are invalid.",
			`pexctl tools call spec.yaml calculator --args '{"expression": "17 * 3"}'`,
			"pexctl tools call spec.yaml restart --args @arguments.json -p service=checkout",
			"echo '{\"path\": \"notes.md\"}' | pexctl tools call spec.yaml read_file --args - -o json",
		),
		Flags: append(
			append(project.SpecFlags(), ui.LiveFlags()...),
			&cli.StringFlag{Name: "args", Value: "{}", Usage: "Arguments as `JSON`, @FILE, or - for stdin (default: {})"},
			&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "`NAME=VALUE`: Set a parameter that the tool uses"},
			&cli.StringFlag{Name: "memory-id", Usage: "Give the tool the notes and variables of conversation `ID`"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "Approve the call without asking"},
			project.TenantFlag(), project.TrustFlag(), project.HomeFlag(), ui.OutputFlag(),
		),
		Action: env.Action(withFlags(toolsCall), 2),
	}
}

// toolCall is one call of a tool from the command line.
type toolCall struct {
	c       *call
	json    bool
	program *engine.Program
	host    engine.Host
	input   engine.Input
}

func toolsCall(c *call) error {
	t := &toolCall{c: c, json: c.JSON}
	if err := t.prepare(); err != nil {
		return err
	}
	args, err := argumentsOf(c)
	if err != nil {
		return err
	}
	ctx, stop := ui.OnSignal(c.Context, func() {})
	defer stop()
	user := project.User()
	t.input.By = &user
	rec, res, err := runtime.CallTool(ctx, t.program, t.input, t.host,
		runtime.Options{Grace: project.Grace, Version: version.String(), By: user}, engine.Invocation{Tool: c.Arg(1), Args: args})
	err = errors.Join(err, t.host.Close())
	if memory, ok := t.host.Memory.(io.Closer); ok {
		err = errors.Join(err, memory.Close())
	}
	if invalid, ok := errors.AsType[*tool.ArgumentsError](err); ok {
		return failure.WithHintf(failure.Usagef("%w", host.Conceal(invalid, t.host.Secrets)),
			"for its input schema: pexctl tools ls %s --schema", fspath.Quote(c.Arg(0)))
	}
	if err != nil {
		return failure.Infra(err)
	}
	return t.printResult(ctx, rec, res)
}

// prepare builds the host for the one tool.
func (t *toolCall) prepare() error {
	c := t.c
	p, spec, err := project.Compile(c.Call, diag.UnapprovedTool) // asked separately below
	if err != nil {
		return err
	}
	tool, err := toolNamed(p, c.Arg(1))
	if err != nil {
		return err
	}
	if err := project.CheckTrust(c.Call, spec, project.HomeDir(c.Call, spec)); err != nil {
		return err
	}
	params, err := toolParameters(p, tool.Name, c.param)
	if err != nil {
		return err
	}
	o, err := project.OriginOf(c.Call, spec)
	if err != nil {
		return err
	}
	home := ""
	if c.memoryID != "" {
		home = project.HomeDir(c.Call, spec)
	}
	t.program = WithOnlyTools(p, c.Arg(1))
	t.input = engine.Input{RunID: runs.NewID(time.Now()), Parameters: params, MemoryID: c.memoryID, Detached: true}
	if t.host, err = host.New(t.program, project.SignIn(c.Call, spec, host.SettingsOf(t.c.Catalog, o, home, params))); err != nil {
		return failure.Usagef("%w", err)
	}
	t.host.Secrets = host.Hidden(t.c.Catalog, p, os.Getenv) // of the whole spec
	c.Trace.Mask(t.host.Secrets)
	t.host.Responder = callResponder(c)
	t.host.Sinks = []engine.Sink{&callSink{c}}
	t.askAboutWrites()
	return nil
}

// askAboutWrites requires approval of calls that may write, unless the spec says
// approval: never.
func (t *toolCall) askAboutWrites() {
	for i := range t.host.Tools {
		b := &t.host.Tools[i]
		if b.Spec.Approval.Source == "never" {
			continue
		}
		careful := *b.Spec
		careful.Approval = component.GuardRef{Source: "always"}
		if _, many := b.Tool.(tool.Toolset); many {
			careful.Approval = ifWrites()
		} else if b.Info().Effect != tool.WriteEffect {
			continue
		}
		b.Spec = &careful
	}
}

// ifWrites is true for calls that write. The effect of a server's tools is
// known once the server is connected.
func ifWrites() component.GuardRef {
	g := component.GuardRef{Source: `tool.effect == "write"`}
	g.Bind(func(env map[string]any) (bool, error) {
		called, ok := env["tool"].(exprenv.Tool)
		return !ok || called.Effect == string(tool.WriteEffect), nil
	})
	return g
}

// argumentsOf reads --args.
func argumentsOf(c *call) (json.RawMessage, error) {
	given := c.args
	name, isFile := strings.CutPrefix(given, "@")
	if !isFile && given != ui.FromStdin {
		return json.RawMessage(given), nil
	}
	return ui.ReadInput(c.Call, "--args", name, ui.MaxArguments)
}

// printResult prints the tool's output, or why there is none, and returns the exit code.
func (t *toolCall) printResult(ctx context.Context, rec runtime.OneCall, res *engine.Result) error {
	switch {
	case ctx.Err() != nil:
		return ui.SignalError(ctx, errors.New("interrupted; the outcome of the call is unknown"))
	case len(res.Interrupts) > 0:
		return t.noAnswerError(res.Interrupts[0])
	}
	rec.Args, _ = t.host.Secrets.JSON(rec.Args)
	if t.json {
		if err := t.printJSON(rec, res); err != nil {
			return failure.Infra(err)
		}
	} else {
		t.print(rec, res)
	}
	if err := ui.RunExit(res); err != nil {
		return err
	}
	if rec.Status != tool.CallOK {
		return ui.Exit(ui.ExitNegative, nil)
	}
	return nil
}

// noAnswerError returns an error for a call that waits for an answer: a single call
// cannot be stored until there is one.
func (t *toolCall) noAnswerError(q interrupt.Question) error {
	name := t.c.Arg(1)
	if no, ok := errors.AsType[*interrupt.NotApproverError](q.Permit(project.User(), "approve")); ok {
		return failure.Usagef("%s was not called: %s", name, no.Reason)
	}
	if q.Kind == interrupt.Approval {
		return failure.Usagef("%s was not called: it needs approval and there is no terminal; add --yes to approve it", name)
	}
	return failure.Usagef("%s asks a question (%s) and there is no terminal to answer at", name, q.Question)
}

// calledTool is the -o json form of a call.
type calledTool struct {
	runtime.OneCall
	Warnings   []string     `json:"warnings"`
	StopReason *stop.Reason `json:"stop_reason,omitempty"` // of a guard or limit
}

func (t *toolCall) printJSON(rec runtime.OneCall, res *engine.Result) error {
	out := calledTool{OneCall: rec, Warnings: res.Warnings}
	if res.StopReason.Code != stop.Answered {
		out.StopReason = &res.StopReason
	}
	return ui.PrintJSON(t.c.Call, out)
}

// print prints the output for the model on stdout, or on stderr why there is
// none.
func (t *toolCall) print(rec runtime.OneCall, res *engine.Result) {
	if rec.Status == tool.CallOK {
		fmt.Fprintln(t.c.Stdout, strings.TrimRight(ui.Safe(t.c.Stdout, rec.Text()), "\n"))
	} else if rec.Status != "" {
		fmt.Fprintf(t.c.Stderr, "%s: %s\n", rec.Status, ui.Safe(t.c.Stderr, rec.Text()))
	}
	if res.StopReason.Code != stop.Answered {
		fmt.Fprintf(t.c.Stderr, "%s: %s\n", res.Status, ui.Safe(t.c.Stderr, ui.EndReason(res)))
	}
}
