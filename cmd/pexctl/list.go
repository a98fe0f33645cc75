package main

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/component"
)

func listCommand() *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "list the components there are, by kind", ArgsUsage: "[KIND]",
		Description: examples("pexctl list", "pexctl list tool", "pexctl list -o json"),
		Flags:       []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			wantJSON, err := asJSON(c)
			if err != nil {
				return err
			}
			if err := atMost(c, 1); err != nil {
				return err
			}
			found := []component.Info{}
			kind := c.Args().First()
			for _, info := range components() {
				if kind == "" || info.Kind == kind {
					found = append(found, info)
				}
			}
			if len(found) == 0 {
				return usage("there is no kind %q; there are %s", kind, listed(kinds()))
			}
			if wantJSON {
				return printJSON(c, struct {
					Components []component.Info `json:"components"`
				}{found})
			}
			w := tabwriter.NewWriter(c.App.Writer, 0, 4, 2, ' ', 0)
			for _, info := range found {
				fmt.Fprintf(w, "%s\t%s\t%s\n", info.Kind, info.Type, info.Doc)
			}
			return w.Flush()
		},
	}
}

// components is everything that specs, tests, suites and flags can name.
func components() []component.Info {
	return slices.Concat(catalog().List(), checkKinds().List("check"), report.All().List("report"))
}

// kinds are the kinds of components, in the order they are listed.
func kinds() []string {
	var out []string
	for _, info := range components() {
		out = append(out, info.Kind)
	}
	return slices.Compact(out)
}

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of the language, for editors",
		Description: examples("pexctl schema > pex.schema.json"),
		Action: func(c *cli.Context) error {
			if err := atMost(c, 0); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.App.Writer, "%s\n", dsl.Schema(catalog(), checkKinds().Blueprints("check")))
			return err
		},
	}
}
