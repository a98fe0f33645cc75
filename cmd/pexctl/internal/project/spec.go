package project

import (
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/lockfile"
)

// SpecArg returns the spec in the arguments.
func SpecArg(c *ui.Call) (string, error) {
	if c.Arg(0) == "" {
		return "", NoSpecError(c.Name)
	}
	return c.Arg(0), nil
}

// SpecFlags returns the flags of every command that reads a spec.
func SpecFlags() []cli.Flag { return append([]cli.Flag{SetFlag("spec")}, SpecFiles()...) }

// SpecFiles returns SpecFlags without --set.
func SpecFiles() []cli.Flag { return []cli.Flag{RootFlag(), AllowFlag(), ui.PricesFlag()} }

// SetFlag returns --set, for values of a spec or a suite.
func SetFlag(of string) cli.Flag {
	example := "limits.max_steps=5"
	if of == "suite" {
		example = "limits.max_cost=2"
	}
	return &cli.StringSliceFlag{Name: "set", Usage: "`PATH=YAML`: Override a value of the " + of + ", such as " + example}
}

// RootFlag returns --root.
func RootFlag() cli.Flag {
	return &cli.StringFlag{Name: "root", Category: ui.GroupSpec, Usage: "`DIR`: Set the project root; reading files outside it requires --allow-path"}
}

// AllowFlag returns --allow-path.
func AllowFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "allow-path", Category: ui.GroupSpec, Usage: "Allow tools, includes and agents to use files in `DIR`, outside the project root"}
}

// SpecOptions returns the options of specs for the flags of a command.
func SpecOptions(c *ui.Call) dsl.Options {
	o := c.Catalog.Options()
	o.Root, o.Set, o.AllowPaths = c.Root, c.Set, c.AllowPaths
	o.Environ, o.Prices, o.Pins, o.Read = os.Environ(), c.Prices(), lockfile.Read, c.ReadTracked
	return o
}

// Compile compiles the spec of a command and shows its diagnostics, except those
// with some codes.
func Compile(c *ui.Call, but ...diag.Code) (*engine.Program, *dsl.Spec, error) {
	return CompileWith(c, nil, but...)
}

// CompileWith is like Compile, with analyzers.
func CompileWith(c *ui.Call, analyzers []dsl.Analyzer, but ...diag.Code) (*engine.Program, *dsl.Spec, error) {
	name, err := SpecArg(c)
	if err != nil {
		return nil, nil, err
	}
	path, err := Local(c, name)
	if err != nil {
		return nil, nil, err
	}
	o := OptionsFor(c, name)
	o.Analyzers = analyzers
	p, spec, found := dsl.Compile(path, o)
	found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool { return slices.Contains(but, d.Code) })
	if err := ui.ShowDiagnostics(c, HintMissing(c, found, name)); err != nil {
		return nil, nil, err
	}
	return p, spec, nil
}
