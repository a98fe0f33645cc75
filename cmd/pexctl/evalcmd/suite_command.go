package evalcmd

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/outputs"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// Command is "pexctl eval".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "eval", Usage: "run a suite: many cases, graded, held against a baseline", ArgsUsage: "SUITE",
		Description: ui.Examples(
			`pexctl eval specs/hello/suite.yaml`,
			`pexctl eval suite.yaml --dry-run                      # how many trials, and what they may cost`,
			`pexctl eval suite.yaml --baseline git:origin/main --markdown eval.md --junit eval.xml`,
			`pexctl eval suite.yaml --tag smoke --repeat 3 -j 16 --max-cost 2.50`,
			`pexctl eval suite.yaml --resume last                  # goes on where it was cut off`,
			`pexctl eval suite.yaml --failing last --html eval.html  # again, only what did not pass`,
		) + "\n\nSUITE is a file of kind: Suite, or the folder of a suite.yaml. Everything of it can be overridden:\n--set repeat=3, --set 'variants={live: {set: {planner.llm: live}}}'.\nExit codes: 0 passed; 1 a gate failed or worse than the baseline; 2 suite, dataset or flags invalid; 3 too\nmany errors to say; 4 inconclusive or out of budget; 129, 130 and 143 suspended: --resume goes on.",
		Flags: append(append(append(suiteFlags(), pickFlags()...), weighFlags()...),
			append(append(outputs.ReportFlags(), ui.LiveFlags()...), project.TrustFlag(), ui.OutputFlag(), project.HomeFlag())...),
		Action:      env.Action(withFlags(evalSuite), 1),
		Subcommands: []*cli.Command{evalLsCommand(env), evalShowCommand(env), evalScoreCommand(env), evalDiffCommand(env), evalBlessCommand(env), evalRmCommand(env)},
	}
}

// suiteFlags say how the suite is read.
func suiteFlags() []cli.Flag {
	flags := project.SpecFlags()
	flags[0] = &cli.StringSliceFlag{Name: "set", Usage: "override a value of the suite: dotted `PATH=YAML`"}
	return flags
}

// pickFlags say what is run.
func pickFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "run", Usage: "only cases whose id matches `REGEX`"},
		&cli.StringSliceFlag{Name: "tag", Usage: "only cases that have the `TAG`"},
		&cli.StringSliceFlag{Name: "variant", Usage: "only the variant of this `NAME`"},
		&cli.IntFlag{Name: "sample", Usage: "only `N` cases, picked by chance"},
		&cli.Int64Flag{Name: "seed", Usage: "of that chance: the same `NUMBER` picks the same cases"},
		&cli.IntFlag{Name: "first", Usage: "no more than `N` cases"},
		&cli.StringFlag{Name: "shard", Usage: "one part of several: `I/N`, as in 2/5"},
		&cli.StringFlag{Name: "failing", Usage: "only cases that did not pass in the evaluation `ID` (last = the latest of this suite)"},
		&cli.IntFlag{Name: "repeat", Usage: "trials of each case: `N`"},
		&cli.BoolFlag{Name: "all-trials", Usage: "run all trials of a case, also when its gates are decided: for what is to be a baseline"},
		&cli.IntFlag{Name: "concurrency", Aliases: []string{"j"}, Usage: "trials in flight: `N`"},
		&cli.StringFlag{Name: "id", Usage: "`ID` of the evaluation (default: made of the time)"},
		&cli.StringFlag{Name: "resume", Usage: "go on with the evaluation `ID` (last = the latest of this suite): what has no row yet, or an error"},
		&cli.BoolFlag{Name: "force", Usage: "resume although suite, dataset or spec have changed since"},
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be run and what it may cost; run nothing"},
	}
}

// weighFlags say what the rows are held against.
func weighFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "baseline", Usage: "`REF` to compare with: a file, git:REF, git:REF:PATH or run:ID"},
		&cli.Float64Flag{Name: "margin", Usage: "a drop of the pass rate by less than `SHARE` is no harm (default: 0.02)"},
		&cli.StringFlag{Name: "inconclusive", Usage: "what it is when too few trials ran to tell: `WORD` pass or fail (default: exit 4)"},
		&cli.StringFlag{Name: "max-errors", Usage: "trials that may end in an error: `N` or N%"},
		&cli.Float64Flag{Name: "max-cost", Usage: "stop before more than `USD` is spent"},
	}
}
