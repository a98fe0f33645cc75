package runcmd

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
)

func runsMessageCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "message", Usage: "Send a message to a run that has not ended", ArgsUsage: "RUN TEXT",
		Description: ui.Help(
			`Corrects or adds to the question of a run: its models see the message at their next call, or when the run continues.
A message to a run that executes needs --server. `+project.RunNames,
			`pexctl runs message last "use the 2025 figures"`,
			`pexctl runs message RUN "skip step 3" --server http://127.0.0.1:8484`,
			`pexctl runs message RUN "stop, the year is 2025" --interrupt --server http://127.0.0.1:8484`,
		),
		Flags: []cli.Flag{
			ui.OutputFlag(), project.HomeFlag(), serverclient.Flag(),
			&cli.BoolFlag{Name: "interrupt", Usage: "end the model calls that are under way and send them again with the message; tool calls continue"},
			&cli.StringFlag{Name: "id", Usage: "`ID` of the message; a repeated message with the same id is stored once (default: a new id)"},
		},
		Action: env.Action(sendMessage),
	}
}

func sendMessage(c *ui.Call) error {
	if c.Arg(0) == "" || c.Arg(1) == "" {
		return failure.WithHintf(failure.Usagef("a run and a text are required"), `use pexctl runs message RUN "TEXT", or last for the latest run`)
	}
	if err := c.AtMost(2); err != nil {
		return err
	}
	m := runs.Message{ID: c.String("id"), Text: c.Arg(1), Interrupt: c.Bool("interrupt")}
	if m.ID == "" {
		m.ID = runs.NewMessageID()
	}
	server, err := openServer(c, "id", "interrupt")
	if err != nil {
		return err
	}
	if server != nil {
		return server.sendMessage(m)
	}
	s, run, err := project.FindRun(c, c.Arg(0), "")
	if err != nil {
		return err
	}
	err = s.Message(c.Context, run, m)
	if errors.As(err, new(*journal.InUseError)) {
		return failure.WithHintf(failure.Infra(err), "if a server executes the run, add --server URL; other runs accept messages while they wait for an answer or are suspended")
	}
	if err != nil {
		return project.RunError(c, s, err)
	}
	return printMessage(c, apiclient.MessageRef{Run: run, ID: m.ID}, "To continue the run: "+project.Command(c, "resume", run))
}

// sendMessage sends a message to a run of the server.
func (s *serverRuns) sendMessage(m runs.Message) error {
	run, err := s.find(s.c.Arg(0))
	if err != nil {
		return err
	}
	if err := s.Message(s.c.Context, run, m); err != nil {
		return s.Fail(err)
	}
	return printMessage(s.c, apiclient.MessageRef{Run: run, ID: m.ID}, "Follow: "+s.command(run, "runs", "show")+" --follow")
}

func printMessage(c *ui.Call, m apiclient.MessageRef, next string) error {
	if c.JSON {
		return ui.PrintJSON(c, m)
	}
	_, err := fmt.Fprintf(c.Stdout, "run %s received message %s\n", m.Run, m.ID)
	if err == nil {
		_, err = fmt.Fprintln(c.Stderr, next)
	}
	return err
}
