package runcmd

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/failure"
)

func runsLsCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "ls", Aliases: []string{"list"}, Usage: "List runs, latest first", ArgsUsage: "[SPEC]",
		Description: ui.Help("",
			"pexctl runs ls",
			"pexctl runs ls my-agent # Runs of another project",
			"pexctl runs ls --status interrupted # Waiting for an answer, or suspended",
			"pexctl runs ls --status max_steps # By stop reason",
			"pexctl runs ls --spec triage --limit 0 # All runs of one agent",
			"pexctl runs ls --label team=shop # By a label of run --label",
			"pexctl runs ls -o json | jq -r '.[].run_id'",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "status", Usage: "`STATUS`: Only runs with this status or stop reason"},
			&cli.StringFlag{Name: "spec", Usage: "`NAME`: Only runs of the spec with this metadata.name"},
			&cli.StringSliceFlag{Name: "label", Usage: "`KEY=VALUE`: Only runs with this label; repeat it for several"},
			&cli.IntFlag{Name: "limit", Value: 50, Usage: "List at most `N` runs, 0 for all (default: 50)"},
			ui.OutputFlag(), project.HomeFlag(), serverclient.Flag(),
		},
		Action: env.Action(runsLs, 1),
	}
}

func runsLs(c *ui.Call) error {
	if err := checkStatus(c, c.String("status")); err != nil {
		return err
	}
	if c.Int("limit") < 0 {
		return failure.Usagef("invalid value %d for --limit; use a number of runs, or 0 for all", c.Int("limit"))
	}
	labels, err := engine.ParseLabels(c.StringSlice("label"))
	if err != nil {
		return failure.Usagef("--label: %w", err)
	}
	filter := runs.Filter{
		Labels: labels, Status: c.String("status"), Spec: c.String("spec"), Limit: c.Int("limit"),
	}
	all, more, err := listRuns(c, filter)
	if err != nil {
		return err
	}
	if c.JSON {
		err = ui.PrintJSON(c, all)
	} else {
		printRuns(c, all, more, filter)
	}
	if err == nil && slices.ContainsFunc(all, func(s runs.Summary) bool { return s.Problem != "" }) {
		err = failure.Infra(errors.New("some runs cannot be read (for details: pexctl store check)"))
	}
	return err
}

func checkStatus(c *ui.Call, status string) error {
	if status == "" || runs.IsStatus(status) || c.Server != "" && status == "queued" {
		return nil
	}
	if near := ui.Nearest(status, slices.Concat(runs.Statuses(), runs.StopCodes())); near != "" {
		return failure.Usagef("invalid value %q for --status; did you mean %s?", status, near)
	}
	return failure.Usagef("invalid value %q for --status; use %s, or a stop reason", status, ui.OneOf(runs.Statuses()))
}

// listRuns returns the runs that match, and how many more there are.
func listRuns(c *ui.Call, f runs.Filter) (found []runs.Summary, more int, err error) {
	server, err := openServer(c, "status", "spec", "label", "limit")
	if err != nil {
		return nil, 0, err
	}
	if server != nil {
		if len(c.Args) > 0 {
			return nil, 0, failure.WithHintf(failure.Usagef("with --server, runs ls takes no SPEC"), "to list the runs of one agent, use --spec NAME")
		}
		return server.list(f)
	}
	dir, err := project.HomeOfSpec(c, c.Arg(0))
	if err != nil {
		return nil, 0, err
	}
	if _, err := os.Stat(filepath.Join(dir, "runs")); err != nil && !c.IsSet("home") {
		return []runs.Summary{}, 0, nil // a project without runs
	}
	s, err := project.OpenRuns(c, c.Arg(0))
	if err != nil {
		return nil, 0, err
	}
	if found, more, err = s.List(c.Context, f); err != nil {
		return nil, 0, failure.Infra(err)
	}
	return found, more, nil
}

func printRuns(c *ui.Call, all []runs.Summary, more int, f runs.Filter) {
	if len(all) == 0 {
		fmt.Fprintln(c.Stderr, noRunsText(c, f))
		return
	}
	ui.Table(c.Stdout, tableOf(c, all))
	switch {
	case more > 0 && c.Server != "":
		fmt.Fprintln(c.Stderr, "there are more; use --limit 0 to list all")
	case more > 0:
		fmt.Fprintf(c.Stderr, "%d more; use --limit 0 to list all\n", more)
	}
}

// labelsWidth is the maximum width of the labels of a run in a list.
const labelsWidth = 40

// tableOf returns the rows of a list. It has a column with labels if a run has some.
func tableOf(c *ui.Call, all []runs.Summary) [][]string {
	head := []string{"RUN", "STATUS", "SPEC", "STARTED", "STEPS", "COST", "QUESTION"}
	hasLabels := slices.ContainsFunc(all, func(s runs.Summary) bool { return len(s.Labels) > 0 })
	withLabels := func(row []string, labels string) []string {
		if hasLabels {
			row = slices.Insert(row, len(row)-1, labels)
		}
		return row
	}
	rows := [][]string{withLabels(head, "LABELS")}
	for _, s := range all {
		rows = append(rows, withLabels([]string{
			s.Run, statusText(s), cmp.Or(s.Spec.Name, "-"), ui.FormatStart(c, s.StartedAt),
			strconv.Itoa(s.Steps), ui.Cost(s.CostUSD), cmp.Or(s.Problem, s.Question),
		}, cmp.Or(tty.OneLine(engine.FormatLabels(s.Labels), labelsWidth), "-")))
	}
	return rows
}

// noRunsText explains an empty list.
func noRunsText(c *ui.Call, f runs.Filter) string {
	if f.Status != "" || f.Spec != "" || len(f.Labels) > 0 {
		return "no matching runs; pexctl runs ls lists all"
	}
	if c.Server != "" {
		return "no runs on " + c.Server
	}
	if hint := project.OtherHomes(c, "runs"); hint != "" && len(c.Args) == 0 {
		return "no runs here yet\n  hint: " + hint
	}
	return `no runs yet; start one with: pexctl run spec.yaml "your question"`
}

// statusText returns a status, with the stop reason if it adds information.
func statusText(s runs.Summary) string {
	if s.Problem != "" {
		return string(s.Status)
	}
	switch code := s.StopReason.Code; code {
	case "", stop.Answered, stop.Cancelled:
		return string(s.Status)
	case stop.Interrupted:
		return string(s.Status) + " (waiting)"
	default:
		return string(s.Status) + " (" + string(code) + ")"
	}
}
