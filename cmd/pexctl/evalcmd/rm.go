package evalcmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/internal/app/failure"
)

func evalRmCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "rm", Aliases: []string{"remove", "delete"}, Usage: "Delete evaluations permanently", ArgsUsage: "[ID | last]...",
		Description: ui.Help("Keeps evaluations that are running. Does not touch baselines, which pexctl eval bless wrote as files of their own.",
			"pexctl eval rm e-20260102-150405-1a2b3c4d last",
			"pexctl eval rm --suite support-questions --older-than 30d",
			"pexctl eval rm --older-than 90d --yes -o json | jq -r '.removed[]'",
		),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "suite", Usage: "Delete the evaluations of the suite `NAME`"},
			&cli.StringFlag{Name: "older-than", Usage: "Delete the evaluations that started more than `AGE` ago, such as 90m, 12h or 30d"},
			ui.YesFlag(), ui.OutputFlag(), project.HomeFlag(),
		},
		Action: env.Action(withFlags(evalRm)),
	}
}

func evalRm(c *call) error {
	home, err := project.HomeHere(c.Call)
	if err != nil {
		return err
	}
	ids, err := evalsToRemove(c, home)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		if err := ui.Confirm(c.Call, fmt.Sprintf("Permanently delete %s", ui.List(ids))); err != nil {
			return err
		}
	}
	removed := make([]string, 0, len(ids))
	for _, id := range ids {
		if err = batch.Remove(filepath.Join(project.EvalsDir(home), id)); err != nil {
			err = failure.Infra(err)
			break
		}
		removed = append(removed, id)
	}
	if c.JSON {
		return errors.Join(err, ui.PrintJSON(c.Call, struct {
			Removed []string `json:"removed"`
		}{removed}))
	}
	for _, id := range removed {
		fmt.Fprintln(c.Stdout, "removed", id)
	}
	if len(ids) == 0 {
		fmt.Fprintf(c.Stderr, "no evaluations to delete in %s\n", home)
	}
	return err
}

// evalsToRemove returns the named evaluations, or those that the flags select. An
// unknown name is an error.
func evalsToRemove(c *call, home string) ([]string, error) {
	picks := c.IsSet("suite") || c.IsSet("older-than")
	switch {
	case len(c.Args) > 0 && picks:
		return nil, failure.Usagef("give either ids, or --suite and --older-than, not both")
	case picks:
		return selectEvals(c, home)
	case len(c.Args) == 0:
		return nil, failure.WithHintf(failure.Usagef("no evaluation given"), "use pexctl eval rm ID..., or select by --suite and --older-than; pexctl eval ls lists evaluations")
	}
	var ids, held []string
	for _, name := range c.Args {
		dir, err := pastFolder(home, name)
		if err != nil {
			return nil, err
		}
		if pid, yes := batch.Holder(dir); yes {
			held = append(held, (&journal.InUseError{File: "evaluation " + filepath.Base(dir), PID: pid}).Error())
		}
		ids = append(ids, filepath.Base(dir))
	}
	if len(held) > 0 {
		return nil, failure.Infra(fmt.Errorf("%s: it is running; suspend it with Ctrl-C there", strings.Join(held, "; ")))
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// selectEvals returns those that the flags select, without running evaluations
// and those with an unreadable manifest.
func selectEvals(c *call, home string) ([]string, error) {
	var age time.Duration
	if text := c.olderThan; c.IsSet("older-than") {
		var err error
		if age, err = ui.ParseAge(text); err != nil {
			return nil, failure.Usagef("invalid value %q for --older-than; use an age such as 90m, 12h or 30d", text)
		}
	}
	all, err := evaluations(home)
	if err != nil {
		return nil, err
	}
	before := time.Now().Add(-age)
	all = slices.DeleteFunc(all, func(m report.Manifest) bool {
		return m.V == 0 || c.IsSet("suite") && m.Suite != c.suite || m.Started.After(before)
	})
	var ids []string
	for _, m := range all {
		if _, yes := batch.Holder(filepath.Join(project.EvalsDir(home), m.ID)); yes {
			ui.Logf(c.Call, "%s is running; kept", m.ID)
			continue
		}
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids, nil
}
