package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/analysis"
	"github.com/pexctl/pex/dsl/diag"
)

func vetCommand() *cli.Command {
	return &cli.Command{
		Name: "vet", Usage: "find everything that is wrong with specs, tests and suites; runs nothing", ArgsUsage: "FILE...",
		Description: examples("pexctl vet spec.yaml", "pexctl vet specs/*/ -o json", "pexctl vet tests/refund/case.yaml evals/suite.yaml", "pexctl vet spec.yaml --explain   # where each value comes from"),
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
	values := []specValues{}
	for _, path := range c.Args().Slice() {
		file, err := local(c, path)
		if err != nil {
			return err
		}
		o := optionsFor(c, path)
		o.Analyzers = analysis.All()
		origins, found := dsl.Vet(file, o)
		all = append(all, found...)
		if origins != nil {
			values = append(values, specValues{path, origins})
		}
	}
	all = all.Sort()
	if wantJSON {
		if err := printVetted(c, all, values); err != nil {
			return err
		}
		return invalid(all)
	}
	if c.Bool("explain") {
		explainSpecs(c, values)
	}
	fmt.Fprint(c.App.ErrWriter, all.String())
	fmt.Fprintf(c.App.ErrWriter, "%s: %s, %s\n", count(c.NArg(), "file"), count(all.Errors(), "error"), count(all.Warnings(), "warning"))
	return invalid(all)
}

// specValues are the values of one file, with their origins.
type specValues struct {
	File   string       `json:"file"`
	Values []dsl.Origin `json:"values"`
}

// printVetted prints one object: the diagnostics, and the values if asked for.
func printVetted(c *cli.Context, found diag.List, values []specValues) error {
	if !c.Bool("explain") {
		return printJSON(c, found)
	}
	b, err := json.Marshal(found)
	if err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(b, &object); err != nil {
		return err
	}
	object["specs"] = values
	return printJSON(c, object)
}

// explainSpecs lists each value of each spec: path, origin, value.
func explainSpecs(c *cli.Context, specs []specValues) {
	for i, s := range specs {
		if len(specs) > 1 {
			fmt.Fprintf(c.App.Writer, "%s# %s\n", strings.Repeat("\n", min(i, 1)), s.File)
		}
		w := tabwriter.NewWriter(c.App.Writer, 0, 4, 2, ' ', 0)
		for _, o := range s.Values {
			fmt.Fprintf(w, "%s\t%s\t%s\n", o.Path, o.Origin, fitFor(c.App.Writer, o.Value))
		}
		_ = w.Flush() // stdout keeps its error itself
	}
}

func count(n int, word string) string {
	switch n {
	case 0:
		return "no " + word + "s"
	case 1:
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
