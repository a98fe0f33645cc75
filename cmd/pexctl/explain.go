package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl/diag"
)

func explainCommand() *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "say what a diagnostic's code means", ArgsUsage: "[CODE]",
		Description: examples("pexctl explain PEX012", "pexctl explain      # lists all codes"),
		Flags:       []cli.Flag{outputFlag()},
		Action:      explain,
	}
}

func explain(c *cli.Context) error {
	wantJSON, err := asJSON(c)
	if err != nil {
		return err
	}
	if err := atMost(c, 1); err != nil {
		return err
	}
	code := c.Args().First()
	if code == "" {
		return explainAll(c, wantJSON)
	}
	m, ok := diag.Explain(strings.ToUpper(code))
	switch {
	case !ok:
		return usage("there is no diagnostic %q; pexctl explain lists them", code)
	case wantJSON:
		return printJSON(c, m)
	}
	fmt.Fprintf(c.App.Writer, "%s: %s\n\n%s\n", m.Code, m.Title, m.Meaning)
	return nil
}

func explainAll(c *cli.Context, wantJSON bool) error {
	if wantJSON {
		return printJSON(c, struct {
			Codes []diag.Meaning `json:"codes"`
		}{diag.Codes()})
	}
	for _, m := range diag.Codes() {
		fmt.Fprintf(c.App.Writer, "%s  %s\n", m.Code, m.Title)
	}
	return nil
}
