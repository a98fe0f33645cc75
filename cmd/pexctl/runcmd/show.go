package runcmd

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
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
		Name: "show", Usage: "Show the plan, steps, tool calls and answer of a run, or follow it", ArgsUsage: "RUN",
		Description: ui.Help(project.RunNames,
			"pexctl runs show last",
			"pexctl runs show RUN --follow # Follow a run that another process executes",
			"pexctl runs show RUN --conversation # Include every prompt and reply",
			"pexctl runs show RUN --html run.html # Write a page with graph, timeline, prompts and decisions",
			"pexctl runs show RUN -o json | jq .steps # The same result object as pexctl run -o json",
		),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "Follow the run until it ends, waits or is suspended, then print its answer and exit like pexctl run"},
			&cli.BoolFlag{Name: "conversation", Usage: "Include the prompt and reply of every model call"},
			&cli.StringFlag{Name: "html", Usage: "Write the run as one HTML page to `FILE` (- for stdout)"},
			&cli.StringFlag{Name: "events", Usage: "With --follow: write every event as a JSON line to `FILE` (- for stdout)"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "With --follow: print no progress on stderr"},
			ui.OutputFlag(), project.HomeFlag(), serverclient.Flag(),
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
	server, err := openServer(c, "follow", "conversation", "events")
	if err != nil {
		return err
	}
	if server != nil {
		return f.showOnServer(server)
	}
	s, run, err := project.RunArg(c)
	if err != nil {
		return err
	}
	page := c.String("html")
	switch {
	case page != "" && (f.follow || f.json || f.conversation):
		return failure.Usagef("--html cannot be combined with --follow, --conversation or -o json: pexctl runs show %s --html %s", run, fspath.Quote(page))
	case f.follow:
		return f.watch(c, s, run)
	case f.events != "":
		return failure.Usagef("--events needs --follow: pexctl runs show %s --follow --events %s", run, fspath.Quote(f.events))
	}
	if page != "" {
		r, err := project.ReadRun(c, s, run)
		if err != nil {
			return err
		}
		return writePage(c, r, page)
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
		next = "Follow: pexctl runs show " + run + " --follow" + project.HomeArgument(c, s.Dir())
	}
	if next != "" {
		fmt.Fprintf(c.Stdout, "\n%s\n", next)
	}
	if !f.conversation {
		return nil
	}
	return ui.PrintConversation(c.Stdout, r.Records)
}

// continueCommand returns the command that continues a run without open
// questions, or "".
func continueCommand(res *engine.Result, resume string) string {
	switch {
	case len(res.Interrupts) > 0:
		return ""
	case res.Status == stop.RunInterrupted:
		return "Resume: " + resume
	case res.StopReason.Extendable() && res.StopReason.Path != "":
		return "Resume with a higher limit: " + resume + " --set " + res.StopReason.Path + "=VALUE"
	}
	return ""
}
