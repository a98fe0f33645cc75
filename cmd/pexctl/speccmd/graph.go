package speccmd

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/runtime"
)

var graphFormats = []string{"mermaid", "dot", "svg", "json"}

// GraphCommand is "pexctl graph".
func GraphCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "graph", Usage: "draw the graph a spec compiles to, guards on the edges, and the way a run took", ArgsUsage: "[SPEC]",
		Description: ui.Examples(
			"pexctl graph spec.yaml",
			"pexctl graph spec.yaml -o svg > graph.svg",
			"pexctl graph --run RUN -o svg > run.svg    # the nodes it visited, the edges it took, where it ended",
			"pexctl graph spec.yaml --run last          # the same way on the spec as it is now",
		) + "\n\n" + project.RunNames,
		Flags: append(
			project.SpecFlags(),
			&cli.StringFlag{Name: "run", Usage: "mark the way that the run `RUN` took; without SPEC on the graph of its own program"},
			project.HomeFlag(), ui.OutputFlag(graphFormats...),
		),
		Action: env.Action(withFlags(func(c *call) error {
			name, d, err := drawn(c)
			if err != nil {
				return err
			}
			switch c.Format {
			case "json":
				return ui.PrintJSON(c.Call, d)
			case "dot":
				fmt.Fprint(c.Stdout, d.DOT())
			case "svg":
				fmt.Fprint(c.Stdout, d.SVG(name))
			default:
				fmt.Fprint(c.Stdout, d.Mermaid())
			}
			return nil
		}), 1),
	}
}

// drawn is the drawing that a command asks for, and what it is of.
func drawn(c *call) (name string, d *graph.Drawing, err error) {
	if c.run == "" {
		p, _, err := project.Compile(c.Call)
		if err != nil {
			return "", nil, err
		}
		return p.Name, p.Graph.Draw(nil), nil
	}
	run, own, w, err := walked(c)
	if err != nil {
		return "", nil, err
	}
	p := own
	if len(c.Args) > 0 {
		if p, _, err = project.Compile(c.Call); err != nil {
			return "", nil, err
		}
	}
	d = p.Graph.Draw(w)
	for _, way := range d.Missing() {
		fmt.Fprintf(c.Stderr, "not in the graph of this spec: %s\n", way)
	}
	return p.Name + " · run " + run, d, nil
}

// walked is a run, its own program and the way it took, as its journal has it: the
// journal is run again, and nothing is performed.
func walked(c *call) (run string, own *engine.Program, way *graph.Walk, err error) {
	s, run, err := project.FindRun(c.Call, c.run, c.Arg(0))
	if err != nil {
		return "", nil, nil, err
	}
	r, err := project.ReadRun(c.Call, s, run)
	if err != nil {
		return "", nil, nil, err
	}
	w := &runtime.PathRecorder{}
	return run, r.Program, w.Walk(r.Trace(c.Context, w)), nil
}
