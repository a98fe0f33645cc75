package runcmd

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

func runsShowCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show what a run did, or watch it", ArgsUsage: "RUN",
		Description: ui.Examples(
			"pexctl runs show RUN",
			"pexctl runs show RUN --follow              # watch a run of another process to its end",
			"pexctl runs show RUN --conversation        # with every prompt and reply",
			"pexctl runs show RUN -o json | jq .steps   # the result object, as run gives it",
			"pexctl runs show last                      # the latest run",
		) + "\n\n" + project.RunNames,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "watch until the run ends, waits or is suspended; then as run: its answer, its exit code"},
			&cli.BoolFlag{Name: "conversation", Usage: "add the prompt and the reply of every model call"},
			&cli.StringFlag{Name: "events", Usage: "with --follow: write every event as a JSON line to `FILE` (- for stdout)"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "with --follow: no progress on stderr"},
			ui.OutputFlag(), project.HomeFlag(),
		},
		Action: env.Action(runsShow),
	}
}

// showFlags are the flags of runs show.
type showFlags struct {
	outputFlags
	follow bool
}

func runsShow(c *ui.Call) (err error) {
	f := showFlags{follow: c.Bool("follow")}
	f.outputFlags = readOutputFlags(c)
	f.conversation = c.Bool("conversation")
	s, run, err := project.RunArg(c)
	if err != nil {
		return err
	}
	switch {
	case f.follow:
		return f.watch(c, s, run)
	case f.events != "":
		return failure.Usagef("--events goes with --follow: pexctl runs show %s --follow --events %s", run, fspath.Quote(f.events))
	}
	return f.show(c, s, run)
}

// show prints the state of a run.
func (f *showFlags) show(c *ui.Call, s *runs.Service, run string) error {
	r, err := project.ReadRun(c, s, run)
	if err != nil {
		return err
	}
	res := r.Show(c.Context)
	if !f.conversation {
		res.Conversation = nil
	}
	if f.json {
		return ui.PrintJSON(c, res)
	}
	resume := "pexctl resume " + run + project.HomeArgument(c, s.Dir())
	report := sink.Report{
		Result: res, Question: runs.Question(r.Start.Input), Now: time.Now(), Running: r.Running, PID: r.PID,
		Columns: ui.Columns(c.Stdout), Color: ui.UsesColor(c.Stdout),
		HowTo: func(q interrupt.Question) (commands []string) {
			for _, answer := range answerOptions(q) {
				commands = append(commands, resume+" "+answerFlag(q, answer))
			}
			return commands
		},
	}
	fmt.Fprint(ui.Styled(c.Stdout), report.String())
	next := continueCommand(res, resume)
	if r.Running {
		next = "watch it: pexctl runs show " + run + " --follow" + project.HomeArgument(c, s.Dir())
	}
	if next != "" {
		fmt.Fprintf(c.Stdout, "\n%s\n", next)
	}
	if !f.conversation {
		return nil
	}
	return ui.PrintConversation(c.Stdout, r.Records)
}

// continueCommand is how a run continues in which nobody is asked; "" = it does not.
func continueCommand(res *engine.Result, resume string) string {
	switch {
	case len(res.Interrupts) > 0:
		return ""
	case res.Status == stop.RunInterrupted:
		return "go on: " + resume
	case res.StopReason.Extendable() && res.StopReason.Path != "":
		return "let it go further: " + resume + " --set " + res.StopReason.Path + "=MORE"
	}
	return ""
}
