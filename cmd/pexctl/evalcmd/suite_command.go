package evalcmd

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/outputs"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// Command returns "pexctl eval".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "eval", Usage: "Run an evaluation suite and compare it with a baseline", ArgsUsage: "SUITE",
		Description: ui.Help(evalDescription,
			`pexctl eval specs/hello/suite.yaml`,
			`pexctl eval suite.yaml --dry-run # Show the number of trials and their cost`,
			`pexctl eval suite.yaml --baseline git:origin/main --markdown eval.md --junit eval.xml`,
			`pexctl eval suite.yaml --tag smoke --repeat 3 -j 16 --max-cost 2.50`,
			`pexctl eval suite.yaml --resume last # Continue an interrupted evaluation`,
			`pexctl eval suite.yaml --failing last --html eval.html # Repeat the cases that failed`,
		),
		Flags: slices.Concat(
			ui.Group(ui.GroupCommon, project.SetFlag("suite"),
				&cli.BoolFlag{Name: "dry-run", Usage: "Print the number of trials and their estimated cost; run nothing"},
				&cli.Float64Flag{Name: "max-cost", Usage: "Stop before the evaluation costs more than `USD`"},
				&cli.StringFlag{Name: "baseline", Usage: "Compare with `WHAT`: a baseline file, git:REF (the suite's baseline in that commit), git:REF:PATH, or run:ID (an evaluation)"},
				&cli.IntFlag{Name: "repeat", Usage: "Run `N` trials per case"},
				&cli.IntFlag{Name: "concurrency", Aliases: []string{"j"}, Usage: "Run `N` trials at a time"},
				&cli.BoolFlag{Name: "watch", Usage: "Whenever a file of the evaluation changes, run the failed cases and the changed cases again. If there are none, run all cases. Stop with Ctrl-C. --max-cost limits the total cost"},
				&cli.StringFlag{Name: "resume", Usage: "Continue evaluation `ID` (or \"last\") and run the trials that have no result or ended in an error"},
				ui.OutputFlag(),
			),
			caseFlags(), gateFlags(),
			outputs.ReportFlags(),
			project.SpecFiles(), ui.LiveFlags(), []cli.Flag{project.TrustFlag(), project.HomeFlag()},
		),
		Action:      env.Action(withFlags(evalSuite), 1),
		Subcommands: []*cli.Command{evalLsCommand(env), evalShowCommand(env), evalScoreCommand(env), evalDiffCommand(env), evalBlessCommand(env), evalRmCommand(env)},
	}
}

const evalDescription = `SUITE is a file of kind: Suite, or a folder with a suite.yaml. --set overrides any value of the suite: --set repeat=3, --set 'variants={live: {set: {planner.llm: live}}}'.

Exit codes: 0 passed; 1 a gate failed or the results regressed; 2 invalid suite, dataset or flags; 3 too many errors to decide; 4 inconclusive or over budget; 129, 130 and 143 suspended (continue with --resume).`

// suiteFlags returns the flags of commands that read a suite.
func suiteFlags() []cli.Flag {
	return append([]cli.Flag{project.SetFlag("suite")}, project.SpecFiles()...)
}

// caseFlags returns the flags that select the cases to run, and how.
func caseFlags() []cli.Flag {
	return slices.Concat(ui.Group(ui.GroupCases,
		&cli.StringFlag{Name: "run", Usage: "Only cases whose id matches `REGEX`"},
		&cli.StringSliceFlag{Name: "tag", Usage: "Only cases with this `TAG`"},
		&cli.StringSliceFlag{Name: "variant", Usage: "Only the variant `NAME`"},
		&cli.StringFlag{Name: "failing", Usage: "Only cases that did not pass in evaluation `ID` (or \"last\")"},
		&cli.IntFlag{Name: "first", Usage: "Only the first `N` cases"},
		&cli.IntFlag{Name: "sample", Usage: "Only a random sample of `N` cases"},
		&cli.Int64Flag{Name: "seed", Usage: "Seed of --sample; the same `NUMBER` selects the same cases"},
		&cli.StringFlag{Name: "shard", Usage: "Only shard `I/N` of the cases, such as 2/5"},
	), ui.Group(ui.GroupRunning,
		&cli.BoolFlag{Name: "all-trials", Usage: "Run every trial even if the gates are already decided (use when recording a baseline)"},
		&cli.StringFlag{Name: "id", Usage: "`ID`: Set the id of the evaluation (default: generated from the time)"},
		&cli.BoolFlag{Name: "force", Usage: "With --resume: continue even if the suite, dataset or spec has changed"},
	))
}

// gateFlags returns the flags for gates and the comparison with the baseline.
func gateFlags() []cli.Flag {
	return ui.Group(ui.GroupCompare,
		&cli.Float64Flag{Name: "margin", Usage: "Accept a drop in the pass rate of less than `SHARE` as non-inferior; 0.02, the default, is 2 percentage points"},
		&cli.StringFlag{Name: "inconclusive", Usage: "Treat an inconclusive comparison as `WORD`: pass or fail (default: exit with 4)"},
		&cli.StringFlag{Name: "max-errors", Usage: "Accept at most `N` trials with errors; N is a number, or a percentage such as 5%"},
	)
}
