package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
)

func vetCommand() *cli.Command {
	return &cli.Command{
		Name: "vet", Usage: "find everything that is wrong with specs; runs nothing", ArgsUsage: "SPEC...",
		Description: examples("pexctl vet spec.yaml", "pexctl vet specs/* -o json", "pexctl vet spec.yaml --explain   # where each value comes from"),
		Flags: append(specFlags(), outputFlag(),
			&cli.BoolFlag{Name: "explain", Usage: "print where each value came from"}),
		Action: vet,
	}
}

func vet(c *cli.Context) error {
	if _, err := oneSpec(c); err != nil {
		return err
	}
	wantJSON, err := asJSON(c)
	if err != nil {
		return err
	}
	var all diag.List
	for _, path := range c.Args().Slice() {
		_, spec, found := dsl.Compile(path, specOptions(c))
		all = append(all, found...)
		if c.Bool("explain") && spec != nil {
			explainSpec(c, spec)
		}
	}
	if wantJSON {
		if err := printJSON(c, all); err != nil {
			return err
		}
		return invalid(all)
	}
	fmt.Fprint(c.App.ErrWriter, all.String())
	if !all.Failed() {
		fmt.Fprintf(c.App.ErrWriter, "%d specs, no errors, %d warnings\n", c.NArg(), all.Warnings())
	}
	return invalid(all)
}

// explainSpec lists each value of a spec with its origin.
func explainSpec(c *cli.Context, spec *dsl.Spec) {
	w := tabwriter.NewWriter(c.App.Writer, 0, 4, 2, ' ', 0)
	for _, o := range spec.Explain() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", o.Path, o.Value, o.Origin)
	}
	_ = w.Flush() // the writer is stdout; its error shows at the next write
}

func explainCommand() *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "say what a diagnostic's code means", ArgsUsage: "CODE",
		Description: examples("pexctl explain PEX012"),
		Flags:       []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			m, ok := diag.Explain(c.Args().First())
			if !ok {
				return usage("there is no diagnostic %q; codes look like PEX012", c.Args().First())
			}
			if wantJSON, err := asJSON(c); err != nil || wantJSON {
				if err != nil {
					return err
				}
				return printJSON(c, m)
			}
			fmt.Fprintf(c.App.Writer, "%s: %s\n\n%s\n", m.Code, m.Title, m.Meaning)
			return nil
		},
	}
}
