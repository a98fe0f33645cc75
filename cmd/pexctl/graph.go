package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

var graphFormats = []string{"mermaid", "dot", "json"}

func graphCommand() *cli.Command {
	return &cli.Command{
		Name: "graph", Usage: "draw the graph a spec compiles to, guards on the edges", ArgsUsage: "SPEC",
		Description: examples("pexctl graph spec.yaml", "pexctl graph spec.yaml -o dot | dot -Tsvg > graph.svg"),
		Flags:       append(specFlags(), outputFlagOf(graphFormats...)),
		Action: func(c *cli.Context) error {
			format, err := formatOf(c, graphFormats...)
			if err != nil {
				return err
			}
			if err := atMost(c, 1); err != nil {
				return err
			}
			p, _, err := compile(c)
			if err != nil {
				return err
			}
			switch format {
			case "json":
				return printJSON(c, p.Graph)
			case "dot":
				fmt.Fprint(c.App.Writer, p.Graph.DOT())
			default:
				fmt.Fprint(c.App.Writer, p.Graph.Mermaid())
			}
			return nil
		},
	}
}
