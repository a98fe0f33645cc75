package speccmd

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/internal/watch"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/analysis"
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/internal/app/failure"
)

// vetDescription is the --help text of vet below the examples.
const vetDescription = `FILE is a spec, its folder, a library, tests, a suite, a price file, a server file or a token file; DIR/... means all such files below DIR. Without FILE, checks the spec in this folder. Diagnostics go to stdout.

To suppress a warning, add a comment with a reason on its line or on the line above:

  tools:
    write_file: {root: .}   # pex:ignore PEX073 writes to out/ only

To suppress the warning in a whole file, put "# pex:ignore-file CODE reason" before the first key. A comment that suppresses nothing causes a warning. Errors cannot be suppressed.

Exit codes: 0 success, including warnings; 1 warnings with --strict, or a worst case above --max-cost, --max-tokens or --max-calls; 2 other errors.`

// VetCommand returns "pexctl vet".
func VetCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "vet", Aliases: []string{"validate", "lint", "check"}, Usage: "Check specs, tests and suites for problems without running them", ArgsUsage: "[FILE...]",
		Description: ui.Help(vetDescription,
			"pexctl vet # The spec in this folder",
			"pexctl vet ./... --strict # All files below this folder; warnings fail too",
			"pexctl vet tests/refund/case.yaml evals/suite.yaml -o json",
			"pexctl vet ./... -o sarif > vet.sarif # For code scanning",
			"pexctl vet ./... -o github # Annotate a pull request",
			"pexctl vet spec.yaml --explain # Show where each value comes from",
			"pexctl vet spec.yaml --cost --max-cost 2.00 # Fail if a run could cost more",
			"pexctl vet spec.yaml --driver temporal # Whether it can run on several machines",
		),
		Flags: append(append(project.SpecFlags(), ui.OutputFlag(vetFormats...),
			watch.Flag(),
			project.DriverFlag(),
			&cli.BoolFlag{Name: "strict", Usage: "Treat warnings as failures (exit code 1)"},
			&cli.BoolFlag{Name: "explain", Usage: "Show where each value comes from"}), costFlags()...),
		Action: env.Action(withFlags(vet)),
	}
}

// vetReport is the result of vetting files.
type vetReport struct {
	files   int
	found   diag.List
	ignored []diag.Ignored
	values  []specValues
	costs   *worstCases
}

func vet(c *call) error {
	if !c.Bool("watch") {
		return vetOnce(c)
	}
	return watch.Run(c.Call, func([]string) error { return vetOnce(c) })
}

// vetOnce vets the files.
func vetOnce(c *call) error {
	format, err := vetFormat(c)
	if err != nil {
		return err
	}
	if err := project.CheckDriver(c.driver); err != nil {
		return err
	}
	costs, err := worstCasesOf(c)
	if err != nil {
		return err
	}
	paths, err := vetFiles(c)
	if err != nil {
		return err
	}
	v := &vetReport{files: len(paths), values: []specValues{}, costs: costs}
	c.RecordRead(paths...)
	for _, path := range paths {
		if err := v.add(c, path); err != nil {
			return err
		}
	}
	v.found = v.found.Sort()
	if err := v.print(c, format); err != nil {
		return failure.Infra(err)
	}
	if c.strict && len(v.found) > 0 && !v.found.Failed() {
		return ui.Exit(ui.ExitNegative, nil)
	}
	return costs.result(v.found)
}

// add vets one file.
func (v *vetReport) add(c *call, path string) error {
	file, err := project.Local(c.Call, path)
	if err != nil {
		return err
	}
	o := project.OptionsFor(c.Call, path)
	o.Analyzers = v.costs.analyzers(append(analysis.All(), project.DriverAnalyzers(c.driver)...), file, path)
	o.Ignored = func(i diag.Ignored) {
		if !slices.Contains(v.ignored, i) {
			v.ignored = append(v.ignored, i)
		}
	}
	origins, found := dsl.Vet(file, o)
	v.found = append(v.found, project.HintMissing(c.Call, found, path)...)
	if origins != nil {
		v.values = append(v.values, specValues{path, origins})
	}
	return nil
}

// text prints the results: values and bounds if requested, then the diagnostics
// and their number. It also prints diagnostics to stderr, because a caller that
// captures stderr separately expects there why the command failed.
func (v *vetReport) text(c *call) {
	if c.explain {
		explainSpecs(c, v.values)
	}
	v.costs.print(c.Stdout)
	ui.WriteDiagnostics(c.Stdout, v.found)
	if ui.SeparateStreams(c.Stdout, c.Stderr) {
		ui.WriteDiagnostics(c.Stderr, v.found)
	}
	v.summary(c.Stdout)
}

func (v *vetReport) summary(w io.Writer) {
	ignored := ""
	if n := len(v.ignored); n > 0 {
		ignored = fmt.Sprintf(", %d ignored", n)
	}
	fmt.Fprintf(w, "%s: %s, %s%s\n", ui.Count(v.files, "file"), ui.Count(v.found.Errors(), "error"), ui.Count(v.found.Warnings(), "warning"), ignored)
}

// specValues are the values of one file, with their origins.
type specValues struct {
	File   string          `json:"file"`
	Values []config.Origin `json:"values"`
}

// printVetted prints one object: the diagnostics, and the values and the worst
// cases if asked for.
func printVetted(c *call, found diag.List, values []specValues, costs *worstCases) error {
	if !c.explain && !costs.enabled() {
		return ui.PrintJSON(c.Call, found)
	}
	b, err := json.Marshal(found)
	if err != nil {
		return err
	}
	var object map[string]any
	if err := json.Unmarshal(b, &object); err != nil {
		return err
	}
	if c.explain {
		object["specs"] = values
	}
	if costs.enabled() {
		object["bounds"] = costs.all
	}
	return ui.PrintJSON(c.Call, object)
}

// explainSpecs lists each value of each spec: path, origin, value.
func explainSpecs(c *call, specs []specValues) {
	for i, s := range specs {
		if len(specs) > 1 {
			fmt.Fprintf(c.Stdout, "%s# %s\n", strings.Repeat("\n", min(i, 1)), s.File)
		}
		w := tabwriter.NewWriter(c.Stdout, 0, 4, 2, ' ', 0)
		for _, o := range s.Values {
			fmt.Fprintf(w, "%s\t%s\t%s\n", o.Path, o.Origin, ui.Safe(c.Stdout, o.Value))
		}
		_ = w.Flush() // stdout records the error
	}
}
