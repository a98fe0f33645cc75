package evalcmd

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

func evalLsCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "ls", Aliases: []string{"list"}, Usage: "List evaluations, latest first",
		Description: ui.Help("", "pexctl eval ls", "pexctl eval ls --suite support-questions", "pexctl eval ls -o json | jq -r '.[0].id'"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "suite", Usage: "Only evaluations of the suite `NAME`"},
			&cli.IntFlag{Name: "limit", Value: 20, Usage: "List at most `N`, 0 for all (default: 20)"},
			ui.OutputFlag(), project.HomeFlag(), serverclient.Flag(),
		},
		Action: env.Action(withFlags(evalLs), 0),
	}
}

func evalLs(c *call) error {
	server, err := openServer(c, "suite", "limit")
	if err != nil {
		return err
	}
	if server != nil {
		return server.list()
	}
	home, err := project.HomeHere(c.Call)
	if err != nil {
		return err
	}
	all, err := evaluations(home)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m report.Manifest) bool { return c.suite != "" && m.Suite != c.suite })
	left := 0
	if n := c.limit; n > 0 && len(all) > n {
		all, left = all[:n], len(all)-n
	}
	list := make([]batch.Summary, 0, len(all))
	for _, m := range all {
		list = append(list, batch.Summarize(project.EvalsDir(home), m))
	}
	if c.JSON {
		return ui.PrintJSON(c.Call, list)
	}
	if len(list) == 0 {
		hint := project.OtherHomes(c.Call, "evals")
		if hint == "" {
			hint = "start one with pexctl eval suite.yaml"
		}
		fmt.Fprintf(c.Stderr, "no evaluations%s in %s\n  hint: %s\n", prefixed(" of ", c.suite), fspath.Relative(home), hint)
		return nil
	}
	printEvaluations(c, list, left)
	return nil
}

// evaluations returns the manifests of the evaluations in a home; see batch.List.
func evaluations(home string) ([]report.Manifest, error) {
	all, err := batch.List(project.EvalsDir(home))
	if err != nil {
		return nil, failure.Infra(err)
	}
	return all, nil
}

func printEvaluations(c *call, list []batch.Summary, left int) {
	rows := [][]string{{"EVALUATION", "SUITE", "STARTED", "TRIALS", "PASSED", "ERRORS", "COST", ""}}
	for _, e := range list {
		about := e.Problem
		if about == "" && e.Scored != "" {
			about = e.Scored + ", graded again"
		}
		if e.Missing > 0 {
			about = strconv.Itoa(e.Missing) + " trials missing"
		}
		rows = append(rows, []string{
			e.ID, e.Suite, ui.FormatStart(c.Call, e.StartedAt), strconv.Itoa(e.Trials), report.Percent(e.PassRate),
			strconv.Itoa(e.Errors), ui.Cost(e.CostUSD), about,
		})
	}
	ui.Table(c.Stdout, rows)
	if lines := trends(list); len(lines) > 0 {
		fmt.Fprintln(c.Stdout)
		for _, line := range lines {
			fmt.Fprintln(c.Stdout, line)
		}
	}
	switch {
	case left > 0 && c.Server != "":
		fmt.Fprintln(c.Stderr, "there are more; use --limit 0 to list all")
	case left > 0:
		fmt.Fprintf(c.Stderr, "%d more; use --limit 0 to list all\n", left)
	}
}
