package chatcmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/fetchspec"
	"github.com/pexctl/pex/cmd/pexctl/internal/chat"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/cmd/pexctl/servecmd"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/server/logs"
)

// Command returns "pexctl chat".
func Command(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "chat", Usage: "Talk to an agent", ArgsUsage: "[SPEC]",
		Description: ui.Help("SPEC is as for pexctl run (default: the spec.yaml of this folder), or with --server the name of an agent of the server. Each question is a run of one conversation, and every call is stored. While a run executes, what you type is a message to it. Without a terminal, the command reads one question or slash command per line; answers go to stdout, everything else to stderr. /help lists the slash commands.",
			"pexctl chat my-agent",
			"pexctl chat my-agent --memory-id incident-7 # Continue a conversation, and the run that was left",
			"pexctl chat triage --server https://agents.example.com",
			`printf 'Why is checkout slow?\n/cost\n' | pexctl chat my-agent`,
		),
		Flags: slices.Concat(
			ui.Group(ui.GroupCommon,
				&cli.StringFlag{Name: "memory-id", Usage: "Start or continue conversation `ID` (default: a new one)"},
				&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "`NAME=VALUE`: Set a parameter of all turns"},
				project.SetFlag("spec"),
				project.ModelFlag(),
				&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "Without a terminal, print no progress"},
			),
			project.SpecFiles(),
			[]cli.Flag{project.TrustFlag(), project.HomeFlag(), serverclient.Flag()},
		),
		Action: env.Action(run, 1),
	}
}

// place is where the runs of a conversation execute.
type place struct {
	client *apiclient.Client
	agent  string
	spec   string // "" = on a server
	fail   func(error) error
	set    []string     // overrides of each run
	close  func() error // suspends the runs, or leaves them to the server
}

// later returns the command that continues a conversation.
func (p *place) later(c *ui.Call, memoryID string) string {
	name := p.spec
	if name == "" {
		name = p.agent
	}
	return project.Command(c, "chat", fspath.Quote(name), "--memory-id", fspath.Quote(memoryID))
}

func run(c *ui.Call) error {
	log := &logWriter{to: c.Stderr}
	lines, err := logs.New(log, "text", slog.LevelWarn)
	if err != nil {
		return err
	}
	p, err := open(c, lines)
	if err != nil {
		return err
	}
	o, err := p.options(c)
	if err != nil {
		return errors.Join(err, p.close())
	}
	err = talk(c, p, o, log)
	if e := p.close(); e != nil && err == nil {
		err = e
	}
	return err
}

// open connects to the server of --server, or starts one for the spec.
func open(c *ui.Call, log *slog.Logger) (*place, error) {
	server, err := serverclient.Open(c, project.Command(c, "chat")+" NAME talks to an agent of the server", "memory-id", "param", "set")
	switch {
	case err != nil:
		return nil, err
	case server != nil:
		return onServer(c, server)
	}
	if len(c.Args) == 0 && fspath.Exists("spec.yaml") {
		c.Args = []string{"."}
	}
	word, err := project.SpecArg(c)
	if err != nil {
		return nil, err
	}
	if err := project.ApplyModelFlag(c); err != nil {
		return nil, err
	}
	local, err := servecmd.StartLocal(c, word, log)
	if err != nil {
		return nil, err
	}
	return &place{
		client: local.Client(), agent: local.Agent(), spec: word, close: local.Close,
		fail: func(err error) error { return err },
	}, nil
}

func onServer(c *ui.Call, s *serverclient.Client) (*place, error) {
	names, err := s.Agents(c.Context)
	if err != nil {
		return nil, s.Fail(err)
	}
	agent := c.Arg(0)
	switch near := ui.Nearest(agent, names); {
	case agent == "" && len(names) == 1:
		agent = names[0]
	case agent == "":
		return nil, failure.WithHintf(failure.Usagef("no agent given"), "the server has %s", ui.List(names))
	case slices.Contains(names, agent):
	case near != "":
		return nil, failure.NotFoundf("", "no agent %q; did you mean %s?", agent, near)
	default:
		return nil, failure.NotFoundf("the server has "+ui.List(names), "no agent %q", agent)
	}
	return &place{
		client: s.Client, agent: agent, fail: s.Fail, set: c.Set, close: func() error { return nil },
	}, nil
}

// options returns the options of the conversation, without those of a screen.
func (p *place) options(c *ui.Call) (chat.Options, error) {
	schema, err := p.client.Schema(c.Context, p.agent)
	if err != nil {
		return chat.Options{}, p.fail(err)
	}
	given, err := parameters(schema, c.StringSlice("param"))
	if err != nil {
		return chat.Options{}, failure.Usagef("%w", err)
	}
	o := chat.Options{
		Client: p.client, Agent: p.agent, MemoryID: c.String("memory-id"), Parameters: given, Set: p.set, Owner: p.spec != "",
		Fail: p.fail, Now: time.Now,
	}
	if p.spec != "" && !fetchspec.IsURL(p.spec) {
		o.Tests = filepath.Join(filepath.Dir(specfs.InFolder(specfs.FileOf(p.spec), "spec.yaml")), "tests")
	}
	return o, nil
}

// parameters returns the parameters that all turns have; the question is not one of them.
func parameters(schema apiclient.Schema, flags []string) (map[string]any, error) {
	if len(flags) == 0 {
		return nil, nil
	}
	p := &engine.Program{}
	for name, declared := range schema.Properties {
		if name != "question" {
			p.Parameters = append(p.Parameters, engine.Parameter{Name: name, Schema: declared, Required: slices.Contains(schema.Required, name)})
		}
	}
	return dsl.Inputs(p, "", flags, nil)
}

// talk continues the conversation to its end, and says how to continue it later.
func talk(c *ui.Call, p *place, o chat.Options, log *logWriter) error {
	ctx, end := ui.OnSignal(c.Context, func() {})
	defer end()
	_, _, onTerminal := terminals(c)
	var conversation *chat.Chat
	var err error
	if onTerminal {
		conversation, err = talkScreen(ctx, c, o, log)
	} else {
		conversation, err = talkPlain(ctx, c, o)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	res, failed := conversation.Result()
	if res != nil && res.Status == stop.RunInterrupted && len(res.Interrupts) == 0 && p.spec != "" {
		ui.Logf(c, "Suspending run %s after the calls in flight", res.RunID)
	}
	if !c.Quiet && (res != nil || failed != nil) {
		fmt.Fprintf(c.Stderr, "Continue: %s\n", p.later(c, conversation.MemoryID()))
	}
	switch {
	case context.Cause(ctx) != nil:
		return ui.SignalError(ctx, nil)
	case res == nil && failed == nil, onTerminal: // the person saw how the turns ended
		return nil
	case failed != nil:
		return ui.Printed(failed)
	}
	return ui.RunExit(res)
}
