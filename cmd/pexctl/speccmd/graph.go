package speccmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/diagram"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/runtime"
)

var graphFormats = []string{"text", "ascii", "mermaid", "dot", "svg", "json"}

// GraphCommand returns "pexctl graph".
func GraphCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "graph", Usage: "Draw the graph of a spec with its models, tools, guards and limits, or the path of a run", ArgsUsage: "[SPEC]",
		Description: ui.Help(project.RunNames,
			"pexctl graph spec.yaml # Text on a terminal, else Mermaid",
			"pexctl graph spec.yaml -o svg > graph.svg",
			"pexctl graph --run RUN -o svg > run.svg # Highlight the path of a run",
			"pexctl graph spec.yaml --run last # Draw it on the current spec",
		),
		Flags: append(
			project.SpecFlags(),
			&cli.StringFlag{Name: "run", Usage: "Highlight the path that `RUN` took (without SPEC: on the graph of the spec it ran with)"},
			project.HomeFlag(), ui.OutputFlagWith("text on a terminal, else mermaid", graphFormats...),
		),
		Action: env.Action(withFlags(func(c *call) error {
			name, d, err := drawing(c)
			if err != nil {
				return err
			}
			return printGraph(c, name, d)
		}), 1),
	}
}

// printGraph writes a drawing in the format of -o.
func printGraph(c *call, name string, d *graph.Drawing) error {
	_, terminal := ui.Terminal(c.Stdout)
	switch format := c.Format; {
	case format == "json":
		return ui.PrintJSON(c.Call, d)
	case format == "dot":
		fmt.Fprint(c.Stdout, d.DOT())
	case format == "svg":
		fmt.Fprint(c.Stdout, d.SVG(name))
	case format == "text", format == "ascii", format == "" && terminal:
		fmt.Fprint(c.Stdout, d.Text(name, graph.TextOptions{Columns: ui.Columns(c.Stdout), ASCII: format == "ascii"}))
	default:
		fmt.Fprint(c.Stdout, d.Mermaid())
	}
	return nil
}

// drawing returns the requested drawing and its title.
func drawing(c *call) (name string, d *graph.Drawing, err error) {
	if c.run == "" {
		p, _, err := project.Compile(c.Call)
		if err != nil {
			return "", nil, err
		}
		return p.Name, diagram.Draw(p, nil), nil
	}
	run, own, w, err := replayedPath(c)
	if err != nil {
		return "", nil, err
	}
	p := own
	if len(c.Args) > 0 {
		if p, _, err = project.Compile(c.Call); err != nil {
			return "", nil, err
		}
	}
	d = diagram.Draw(p, w)
	for _, part := range d.Missing() {
		fmt.Fprintf(c.Stderr, "not in the current graph of the spec: %s\n", part)
	}
	return p.Name + " · run " + run, d, nil
}

// replayedPath returns a run, its own program and its path, replayed from its journal.
func replayedPath(c *call) (run string, own *engine.Program, path *graph.Path, err error) {
	s, run, err := project.FindRun(c.Call, c.run, c.Arg(0))
	if err != nil {
		return "", nil, nil, err
	}
	r, err := project.ReadRun(c.Call, s, run)
	if err != nil {
		return "", nil, nil, err
	}
	w := &runtime.PathRecorder{}
	return run, r.Program, w.Path(r.Trace(c.Context, w)), nil
}
