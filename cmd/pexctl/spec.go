package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/pin"
)

// specFlags are the flags of every command that reads a spec.
func specFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "set", Usage: "override a value of the spec: dotted `PATH=YAML`"},
		&cli.StringFlag{Name: "root", Usage: "project root: no file outside this `DIR` is read"},
		allowFlag(),
		pricesFlag(),
	}
}

func allowFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "allow-path", Usage: "a `DIR` outside the project root that tools may use, and where included files and agents may lie (see --trust)"}
}

func specOptions(c *cli.Context) dsl.Options {
	return dsl.Options{
		Catalog: catalog(), Checks: checkKinds().Blueprints("check"), Root: c.String("root"), Set: c.StringSlice("set"),
		Environ: os.Environ(), AllowPaths: c.StringSlice("allow-path"), Prices: prices(c),
		Pins: pin.Read,
	}
}

// compile compiles the spec of a command and shows what is wrong with it, but
// for diagnostics of these codes.
func compile(c *cli.Context, but ...diag.Code) (*engine.Program, *dsl.Spec, error) {
	return compileWith(c, nil, but...)
}

// compileWith is compile with analyzers.
func compileWith(c *cli.Context, analyzers []dsl.Analyzer, but ...diag.Code) (*engine.Program, *dsl.Spec, error) {
	name, err := oneSpec(c)
	if err != nil {
		return nil, nil, err
	}
	path, err := local(c, name)
	if err != nil {
		return nil, nil, err
	}
	o := optionsFor(c, name)
	o.Analyzers = analyzers
	p, spec, found := dsl.Compile(path, o)
	found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return slices.Contains(but, d.Code) })
	if err := show(c, pointed(c, found, name)); err != nil {
		return nil, nil, err
	}
	return p, spec, nil
}

// show prints diagnostics: text on stderr, or with -o json an error list on stdout.
func show(c *cli.Context, found diag.List) error {
	if c.Bool("quiet") && !found.Failed() {
		return nil
	}
	if c.String("output") == "json" && found.Failed() {
		if err := printJSON(c, found); err != nil {
			return err
		}
	}
	fmt.Fprint(c.App.ErrWriter, found.String())
	return invalid(found)
}

func printJSON(c *cli.Context, v any) error {
	e := json.NewEncoder(machine(c.App.Writer))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
