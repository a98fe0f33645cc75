package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

func graphCommand() *cli.Command {
	return &cli.Command{
		Name: "graph", Usage: "draw the graph a spec compiles to, guards on the edges", ArgsUsage: "SPEC",
		Description: examples("pexctl graph spec.yaml", "pexctl graph spec.yaml -o dot | dot -Tsvg > graph.svg"),
		Flags: append(specFlags(),
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "mermaid", Usage: "output `FORMAT`: mermaid, dot or json"}),
		Action: func(c *cli.Context) error {
			p, _, err := compile(c)
			if err != nil {
				return err
			}
			switch format := c.String("output"); format {
			case "mermaid", "text":
				fmt.Fprint(c.App.Writer, p.Graph.Mermaid())
			case "dot":
				fmt.Fprint(c.App.Writer, p.Graph.DOT())
			case "json":
				return printJSON(c, p.Graph)
			default:
				return usage("-o %s: there are mermaid, dot and json", format)
			}
			return nil
		},
	}
}
