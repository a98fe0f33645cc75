package testcmd

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// testDescription is what --help says of tests below the examples.
const testDescription = `

PATH is a spec, its folder, a file of kind: Tests, a case folder, or DIR/... The tests of a spec are
its own tests:, the files of kind: Tests beside it and in tests/, and tests/*/case.yaml. For example

  tests:
    - name: plans a sum                 # its prompt is held against a golden file
      parameters: {question: What is 1 + 1}
      render: planner
    - name: adds                        # the agent runs on what it was told here
      parameters: {question: What is 1 + 1}
      run: {replies: [{role: planner, text: '{"steps": [], "result": "2"}'}]}
      expect: ['output contains "2"', trace.model_calls == 1]

No model is called and no network is used: prompts are rendered and held against golden files, runs are
replayed from a cassette or a script, and checks look at what they gave. Tools that write work in a copy.
Golden files and cassettes go with the spec into git: the diff of a prompt is what a review looks at.

Exit code 0: all passed; 1: one did not; 2: a spec or test is invalid, or there is none; 3: a recording
failed; 130: stopped.`

// Command is "pexctl test".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "test", Usage: "run the tests of specs: offline, and the same every time", ArgsUsage: "[PATH...]",
		Description: ui.Examples(
			"pexctl test                                # the spec of this folder",
			"pexctl test ./...                          # every spec and every file of tests below it",
			"pexctl test specs/hello --run 'sum|total'  # the cases whose name matches",
			"pexctl test --review                       # look at each golden that changed, and accept it or not",
			"pexctl test --update                       # accept them all: read the diff before you commit it",
			"pexctl test --record missing               # run cases that have no cassette live, and write it",
			"pexctl test ./... --junit report.xml --cover",
		) + testDescription,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "update", Aliases: []string{"u"}, Usage: "make golden files what the tests give (refused where CI is set)"},
			&cli.BoolFlag{Name: "review", Usage: "ask about each golden file that is to change"},
			&cli.StringFlag{Name: "record", Usage: "run cases live and write their cassettes: `WHICH` is missing or all"},
			&cli.StringFlag{Name: "run", Usage: "only the cases whose name a `REGEX` matches"},
			&cli.StringFlag{Name: "shard", Usage: "only part `I/N` of the cases, such as 1/4"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Value: runtime.GOMAXPROCS(0), Usage: "`N` cases at a time"},
			&cli.BoolFlag{Name: "no-commands", Usage: "start no programs: calls of command and python tools that the case does not answer fail, and so do command checks"},
			&cli.BoolFlag{Name: "list", Usage: "list the cases and run none"},
			&cli.BoolFlag{Name: "stale", Usage: "list the cassettes that no longer hold what the spec asks"},
			&cli.StringFlag{Name: "allow-drift", Usage: "replay although more than prompts differ: `CLASSES` parameters, tools, arguments"},
			&cli.BoolFlag{Name: "fail-on-unused", Usage: "golden files that no case asks for are failures (the default where all cases run)"},
			&cli.BoolFlag{Name: "cover", Usage: "show what of the specs the tests exercised, and what never"},
			&cli.Float64Flag{Name: "cover-min", Usage: "fail below `PERCENT` of what can be exercised; implies --cover"},
			&cli.StringFlag{Name: "json", Usage: "write the results to a JSON `FILE`"},
			&cli.StringFlag{Name: "junit", Usage: "write the results to a JUnit XML `FILE`"},
			&cli.StringFlag{Name: "markdown", Usage: "write the results to a Markdown `FILE`"},
			&cli.StringFlag{Name: "root", Usage: "project root: no file outside this `DIR` is read"},
			project.AllowFlag(), project.TrustFlag(),
			ui.PricesFlag(), ui.EnvFileFlag(),
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "only what failed"},
			ui.OutputFlag(),
		},
		Action: env.Action(testSpecs),
	}
}

func testSpecs(c *ui.Call) error {
	o, err := testOptionsOf(c)
	if err != nil {
		return err
	}
	plan, err := planTests(c, o)
	if err != nil {
		return err
	}
	defer plan.close()
	if o.list {
		return listTests(c, o, plan)
	}
	if err := plan.trusted(c); err != nil {
		return err
	}
	ctx, stop := ui.OnSignal(c.Context, func() { fmt.Fprintln(c.Stderr, "stopping: cases under way may end") })
	defer stop()
	if o.record != "" {
		if err := recordTests(ctx, c, o, plan); err != nil {
			return err
		}
	}
	done := runTests(ctx, o, plan)
	if ctx.Err() != nil {
		return ui.StoppedBy(ctx, fmt.Errorf("stopped after %d of %s", done.finished(), ui.Count(len(plan.cases), "case")))
	}
	if o.stale {
		return listStale(c, o, plan, done)
	}
	return tellTests(ctx, c, o, plan, done)
}

// inCI says whether no person reads the diff of what is written here.
func inCI() bool {
	v := os.Getenv("CI")
	on, err := strconv.ParseBool(v)
	return v != "" && (on || err != nil)
}
