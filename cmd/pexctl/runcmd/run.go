package runcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/urfave/cli/v2"
)

func RunCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run a spec to an answer", ArgsUsage: `SPEC ["QUESTION"]`,
		Description: ui.Examples(
			`pexctl run my-agent                                            # the spec.yaml of a folder`,
			`pexctl run spec.yaml "Why is checkout slow?" -p service=checkout`,
			`pexctl run spec.yaml "And since when?" --memory-id incident-7   # goes on with a conversation`,
			`git log -5 | pexctl run spec.yaml -                              # - reads the question from stdin`,
			`pexctl run spec.yaml -o json | jq .stop_reason`,
			`pexctl run https://example.com/agents/triage.yaml "Why?"   # asks before it starts or reaches anything`,
			`pexctl run spec.yaml --set limits.max_steps=5 --events events.jsonl`,
			`pexctl run spec.yaml --allow-path ../shared --trust sha256:9f86d081884c7d65   # in CI: what it includes from there, as it is`,
		),
		Flags: append(append(
			project.SpecFlags(),
			&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "a parameter: `NAME=VALUE`"},
			&cli.StringFlag{Name: "params", Usage: "parameters from a JSON `FILE` (- for stdin)"},
			&cli.StringFlag{Name: "run-id", Usage: "`ID` of the run (default: made of the time)"},
			&cli.StringFlag{Name: "memory-id", Usage: "`ID` of the conversation to go on with"},
			&cli.StringFlag{Name: "executor-memory-id", Usage: "`ID` of the steps that the executor goes on with (default: those of the conversation)"},
			&cli.StringSliceFlag{Name: "file", Usage: "a `PATH` to show to the agent"},
			&cli.StringFlag{Name: "messages", Usage: "what was said before: a JSON `FILE` (- for stdin) of messages, [{\"role\": \"user\", \"content\": \"...\"}]; the last of a user is the question where none is given"},
			project.TenantFlag(), detachFlag(), project.TrustFlag(),
		), append(replayFlags(), newSessionFlags()...)...),
		Action: env.Action(runSpec),
	}
}

func runSpec(c *ui.Call) error {
	f, err := readSessionFlags(c)
	if err != nil {
		return err
	}
	var analyzers []dsl.Analyzer
	if liveModels(c) {
		analyzers = append(analyzers, project.UnsetKeys())
	}
	from, err := readRecording(c)
	if err != nil {
		return err
	}
	c.PinPrices(from.prices())
	p, spec, err := project.CompileWith(c, analyzers)
	if err != nil {
		return err
	}
	if err := project.CheckQuestion(c); err != nil {
		return err
	}
	dir := project.HomeDir(c, spec)
	if err := project.CheckTrust(c, spec, dir); err != nil {
		return err
	}
	in, err := input(c, p, from)
	if err != nil {
		return err
	}
	if in.Origin, err = project.OriginOf(c, spec); err != nil {
		return err
	}
	warnUnreadable(c, p, filepath.Dir(spec.File))
	h, err := host.New(p, project.SignIn(c, spec, host.SettingsOf(c.Catalog, in.Origin, dir, in.Parameters)))
	if err != nil {
		return failure.Usagef("%w", err)
	}
	homedir.Create(dir)
	s, err := runs.Open(dir, project.RunsEnv(c, dir))
	if err != nil {
		return failure.Infra(fmt.Errorf("%w (--home or PEX_HOME names another place for runs)", err))
	}
	if c.Bool("detach") {
		return detach(c, s, in, f.json)
	}
	n := runs.NewRun{Program: p, Input: in, Host: h}
	if from != nil {
		n.Records = from.records
	}
	session, err := s.Start(n)
	if err != nil {
		return project.StoreError(err)
	}
	if err := recordTo(c.Catalog, session, f.record); err != nil {
		return errors.Join(err, session.Discard())
	}
	return execute(c, s, session, f, func(res *engine.Result) []string {
		return NextSteps(c.Arg(0), project.HomeArgument(c, dir), spec, p, res)
	})
}

// input gathers what the run is given. The parameters of the run that it replays
// count where --params names no others.
func input(c *ui.Call, p *engine.Program, from *recording) (engine.Input, error) {
	file, err := from.parameters(p)
	if err != nil {
		return engine.Input{}, err
	}
	if name := c.String("params"); name != "" {
		b, err := ui.ReadGiven(c, "--params", name, ui.MostArguments)
		if err != nil {
			return engine.Input{}, err
		}
		file = b
	}
	for _, name := range c.StringSlice("file") {
		if _, err := os.Stat(name); err != nil {
			return engine.Input{}, failure.Usagef("--file: %w", err)
		}
	}
	question, err := project.QuestionOf(c)
	if err != nil {
		return engine.Input{}, err
	}
	earlier, question, err := opening(c, file, question)
	if err != nil {
		return engine.Input{}, err
	}
	params, err := dsl.Inputs(p, question, c.StringSlice("param"), file)
	if err != nil {
		return engine.Input{}, failure.Usagef("%w", err)
	}
	in := engine.Input{
		Parameters: params, MemoryID: c.String("memory-id"), Files: c.StringSlice("file"),
		ExecutorMemoryID: c.String("executor-memory-id"), Earlier: earlier,
	}
	if len(in.Files) > 0 {
		if in.FilesDir, err = os.Getwd(); err != nil {
			return engine.Input{}, failure.Usagef("--file: %w", err)
		}
	}
	if in.ExecutorMemoryID != "" && in.ExecutorMemoryID == in.MemoryID {
		return engine.Input{}, failure.Usagef("--executor-memory-id: steps are not kept among the turns of --memory-id; leave it out, or name another")
	}
	if from != nil {
		in.From = &from.from
		in.Aside = len(from.from.Layers) == 0 // a replay of everything adds nothing to its conversation
	}
	in.RunID, err = project.NewRunID(c.String("run-id"))
	return in, err
}
