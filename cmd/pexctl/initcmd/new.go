package initcmd

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/scaffold"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	samples "github.com/pexctl/pex/specs"
)

// NewCommand returns "pexctl new".
func NewCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "new", Usage: "Copy a sample agent with its tests and data, or list the samples", ArgsUsage: "[SAMPLE] [DIR]",
		Description: ui.Help("Existing files are kept unless --force is given.",
			"pexctl new # List the samples",
			"pexctl new hello --run # Copy one and run it; no API key needed",
			"pexctl new log-triage # Into the folder log-triage",
			"pexctl new log-triage incidents # Into another folder",
			"pexctl new log-triage --force # Restore its original files",
		),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "list", Usage: "List the samples"},
			&cli.BoolFlag{Name: "run", Usage: "Run the agent after copying it, like pexctl run DIR"},
			forceFlag(), ui.OutputFlag(),
		},
		Action: env.Action(withFlags(copySample), 2),
	}
}

func copySample(c *call) error {
	name := c.Arg(0)
	switch {
	case c.JSON && c.run:
		return failure.Usagef("--run and -o json cannot be combined; use pexctl new, then pexctl run DIR -o json")
	case name == "" && c.run:
		return failure.WithHintf(failure.Usagef("--run needs a sample"), "use pexctl new %s --run; pexctl new lists the samples", samples.List()[0].Name)
	case name != "" && c.list:
		return failure.Usagef("--list and the sample %s cannot be combined", name)
	case name == "":
		return listSamples(c, c.JSON)
	}
	sample, ok := samples.Find(name)
	if !ok {
		return unknownSample(name)
	}
	found, err := sample.Files()
	if err != nil {
		return failure.Infra(err)
	}
	var files []scaffold.File
	for _, f := range found {
		files = append(files, scaffold.File(f))
	}
	dir := c.Arg(1)
	if dir == "" {
		dir = sample.Name
	}
	live := nextCommand{"OPENAI_API_KEY=... pexctl run " + fspath.Quote(dir) + " --set planner.llm=live", "With a real model (see README.md)"}
	root := specfs.Root(dir)
	if slices.ContainsFunc(files, func(f scaffold.File) bool { return f.Path == "pex.lock" }) {
		root = dir // the lock file marks a root
	}
	if c.run {
		return runSample(c, dir, files)
	}
	home := project.HomeArgument(c.Call, project.HomeDir(c.Call, &dsl.Spec{Root: root}))
	return writeProject(c, createdProject{Name: sample.Name, Dir: dir, Next: newNext(dir, home, files), Live: live}, files, c.JSON)
}

// runSample creates a project and runs it: only the answer goes to stdout.
func runSample(c *call, dir string, files []scaffold.File) error {
	if err := scaffold.Write(dir, files, c.force); err != nil {
		return writeError(err)
	}
	ui.Logf(c.Call, "Created %s: %s. Running pexctl run %[1]s:", fspath.Quote(dir), ui.Count(len(files), "file"))
	return c.App.Run([]string{c.App.Name, "run", "--", dir})
}

func listSamples(c *call, wantJSON bool) error {
	all := samples.List()
	if wantJSON {
		return ui.PrintJSON(c.Call, struct {
			Samples []samples.Sample `json:"samples"`
		}{all})
	}
	rows := [][]string{{"SAMPLE", "WHAT IT DOES"}}
	for _, s := range all {
		rows = append(rows, []string{s.Name, s.About})
	}
	ui.Table(c.Stdout, rows)
	ui.PrintHints(c.Stderr, []string{"", "Try one (no API key needed): pexctl new " + all[0].Name + " --run"})
	return nil
}

func unknownSample(name string) error {
	var known []string
	for _, s := range samples.List() {
		known = append(known, s.Name)
	}
	if near := ui.Nearest(name, known); near != "" {
		return failure.Usagef("unknown sample %q; did you mean %s?", tty.Flat(name), near)
	}
	return failure.Usagef("unknown sample %q; use %s", tty.Flat(name), ui.OneOf(known))
}

// newNext returns the next commands; home is the flag that finds runs again. A
// sample may have neither a suite nor approvals.
func newNext(dir, home string, files []scaffold.File) []nextCommand {
	dir = fspath.Quote(dir)
	next := []nextCommand{{"pexctl run " + dir, "run it; no API key needed"}}
	if slices.ContainsFunc(files, needsApproval) {
		next = append(next, nextCommand{
			"pexctl resume last --answer approve" + home,
			"approve, if the run is waiting (exit code 5)",
		})
	}
	next = append(next, nextCommand{"pexctl test " + dir, "run its tests"})
	if slices.ContainsFunc(files, func(f scaffold.File) bool { return f.Path == "suite.yaml" }) {
		next = append(next, nextCommand{"pexctl eval " + dir, "grade its answers"})
	}
	return next
}

// approvals matches the approval of a tool in a spec.
var approvals = text.Regexp(`(?m)^ +approval: +[^n#]`)

func needsApproval(f scaffold.File) bool {
	return f.Path == "spec.yaml" && approvals().Match(f.Content)
}
