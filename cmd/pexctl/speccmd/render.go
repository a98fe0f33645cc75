package speccmd

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/toolcmd"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/eval/render"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/host"
)

// RenderCommand returns "pexctl render".
func RenderCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "render", Usage: "Print the exact prompt of a node without calling a model", ArgsUsage: `SPEC ["QUESTION"]`,
		Description: ui.Help("",
			"pexctl render spec.yaml --node planner",
			"pexctl render spec.yaml --node reflector --given state.yaml -p question='Why?'",
		),
		Flags: append(
			project.SpecFlags(),
			&cli.StringFlag{Name: "node", Value: "planner", Usage: "`NODE`: Node to render: planner, planner_with_history, reflector, executor, finalizer, or a node id of the graph (default: planner)"},
			&cli.StringFlag{Name: "given", Usage: "Render in the state in a YAML `FILE` (- for stdin), with the fields of the result object, all optional"},
			&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "`NAME=VALUE`: Set a parameter"},
			ui.EnvFileFlag(), ui.OutputFlag(),
		),
		Action: env.Action(withFlags(renderPrompt)),
	}
}

func renderPrompt(c *call) error {
	p, spec, err := project.Compile(c.Call)
	if err != nil {
		return err
	}
	v, err := givenView(c, p)
	if err != nil {
		return err
	}
	host, err := host.New(p, host.Settings{Catalog: c.Catalog, Dir: spec.Dir, Root: spec.Root, Spec: spec.File, Env: os.Getenv, Offline: true})
	if err != nil {
		return failure.Usagef("%w", err)
	}
	if v.Tools, err = toolcmd.ToolInfos(c.Call, p, host); err != nil {
		return err
	}
	call, err := render.Call(v, c.node)
	if err != nil {
		return failure.Usagef("--node %w", err)
	}
	if c.JSON {
		return ui.PrintJSON(c.Call, call.Messages)
	}
	fmt.Fprint(c.Stdout, render.Markdown(call.Messages))
	return nil
}

// givenView returns the view of a node in the given state.
func givenView(c *call, p *engine.Program) (engine.View, error) {
	var state render.State
	if name := c.given; name != "" {
		b, err := ui.ReadInput(c.Call, "--given", name, ui.MaxArguments)
		if err != nil {
			return engine.View{}, err
		}
		doc, found := dsl.JSON(name, b)
		if err := ui.ShowDiagnostics(c.Call, found); err != nil {
			return engine.View{}, err
		}
		if state, err = render.Read(doc); err != nil {
			return engine.View{}, failure.Usagef("--given %s: %w", name, err)
		}
	}
	if err := project.CheckQuestion(c.Call); err != nil {
		return engine.View{}, err
	}
	question, err := project.QuestionOf(c.Call)
	if err != nil {
		return engine.View{}, err
	}
	v, err := state.View(p, question, c.param)
	if err != nil {
		return engine.View{}, failure.Usagef("%w", err)
	}
	return v, nil
}
