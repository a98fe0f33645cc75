package testcmd

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/internal/watch"
)

// testDescription is the --help text of test below the examples.
const testDescription = `PATH is a spec, its folder, a file of kind: Tests, a case folder, or DIR/... Runs the tests in a spec (key tests), in files of kind: Tests beside it and in tests/, and in tests/*/case.yaml. For example:

  tests:
    - name: plans a sum                 # compares the prompt with a golden file
      parameters: {question: What is 1 + 1}
      render: planner
    - name: adds                        # runs the agent with scripted replies
      parameters: {question: What is 1 + 1}
      run: {replies: [{role: planner, text: '{"steps": [], "result": "2"}'}]}
      expect: ['output contains "2"', trace.model_calls == 1]

Tests call no model and use no network: prompts are compared with golden files, and runs replay a cassette or scripted replies. Tools that write use a copy of the spec's folder. Commit golden files and cassettes with the spec, so that reviewers see changed prompts.

Exit codes: 0 all passed; 1 a test failed; 2 invalid or no tests; 3 a recording failed; 130 interrupted.`

// Command returns "pexctl test".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "test", Usage: "Run the tests of specs, offline and deterministically", ArgsUsage: "[PATH...]",
		Description: ui.Help(testDescription,
			"pexctl test # The spec in this folder",
			"pexctl test ./... # All specs and test files below this folder",
			"pexctl test specs/hello --run 'sum|total' # Cases whose name matches",
			"pexctl test --review # Review each changed golden file",
			"pexctl test --update # Accept all changed golden files",
			"pexctl test --record missing # Record cases without a cassette, live",
			"pexctl test ./... --junit report.xml --cover",
		),
		Flags: slices.Concat(
			ui.Group(ui.GroupCommon,
				&cli.StringFlag{Name: "run", Usage: "Only cases whose name matches `REGEX`"},
				watch.Flag(),
				&cli.BoolFlag{Name: "review", Usage: "Show each changed golden file and ask whether to accept it"},
				&cli.BoolFlag{Name: "update", Aliases: []string{"u"}, Usage: "Rewrite golden files with the current output (refused if CI is set)"},
				&cli.StringFlag{Name: "record", Usage: "Run cases live and record their cassettes: `WHICH` is missing or all"},
				&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "Print only failures"},
				ui.OutputFlag(),
			),
			ui.Group(ui.GroupCases,
				&cli.BoolFlag{Name: "list", Usage: "List the cases without running them"},
				&cli.BoolFlag{Name: "stale", Usage: "List the cassettes that no longer match the requests of the spec"},
				&cli.StringFlag{Name: "shard", Usage: "Only shard `I/N` of the cases, such as 1/4"},
			),
			ui.Group(ui.GroupRunning,
				&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Value: runtime.GOMAXPROCS(0), Usage: "Run `N` cases at a time (default: number of CPUs)"},
				&cli.BoolFlag{Name: "no-commands", Usage: "Start no programs: command checks fail, and so do calls of command and python tools without a scripted or recorded result"},
				&cli.StringFlag{Name: "allow-drift", Usage: "Also allow `CLASSES` of differences in a replay: parameters, tools, arguments (prompts may always differ)"},
				&cli.BoolFlag{Name: "fail-on-unused", Usage: "Fail on unused golden files (default when all cases run)"},
			),
			ui.Group(ui.GroupReports,
				&cli.BoolFlag{Name: "cover", Usage: "Report which parts of the specs the tests cover"},
				&cli.Float64Flag{Name: "cover-min", Usage: "Fail if coverage is below `PERCENT`; implies --cover"},
				&cli.StringFlag{Name: "json", Usage: "Write the results to a JSON `FILE`"},
				&cli.StringFlag{Name: "junit", Usage: "Write the results to a JUnit XML `FILE`"},
				&cli.StringFlag{Name: "markdown", Usage: "Write the results to a Markdown `FILE`"},
			),
			project.SpecFiles(), []cli.Flag{project.TrustFlag(), ui.EnvFileFlag()},
		),
		Action: env.Action(testSpecs),
	}
}

func testSpecs(c *ui.Call) error {
	o, err := testOptionsOf(c)
	if err != nil {
		return err
	}
	if !o.watch {
		return testOnce(c, o)
	}
	return watch.Run(c, func([]string) error {
		if o, err = testOptionsOf(c); err != nil { // opens its reports again
			return err
		}
		return testOnce(c, o)
	})
}

// testOnce runs the tests.
func testOnce(c *ui.Call, o *testOptions) error {
	plan, err := planTests(c, o)
	if err != nil {
		return err
	}
	defer plan.close()
	if o.list {
		return listTests(c, o, plan)
	}
	if err := plan.checkTrust(c); err != nil {
		return err
	}
	ctx, stop := ui.OnSignal(c.Context, func() { fmt.Fprintln(c.Stderr, "Stopping after the cases in progress (Ctrl-C again to stop now)") })
	defer stop()
	if o.record != "" {
		if err := recordTests(ctx, c, o, plan); err != nil {
			return err
		}
	}
	done := runTests(ctx, o, plan)
	if ctx.Err() != nil {
		return ui.SignalError(ctx, fmt.Errorf("interrupted after %d of %s", done.finished(), ui.Count(len(plan.cases), "case")))
	}
	if o.stale {
		return listStale(c, o, plan, done)
	}
	return reportTests(ctx, c, o, plan, done)
}

// inCI reports whether no human sees the diff of what is written.
func inCI() bool {
	v := os.Getenv("CI")
	on, err := strconv.ParseBool(v)
	return v != "" && (on || err != nil)
}
