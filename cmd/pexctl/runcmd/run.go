package runcmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
)

// RunCommand runs a spec.
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
		), append(newReplayFlags(), newSessionFlags()...)...),
		Action: env.Action(runSpec),
	}
}

// runFlags are the flags of run.
type runFlags struct {
	sessionFlags
	replay                            replayFlags
	params, files                     []string
	paramsFile, messages              string // files of JSON; ui.FromStdin = stdin; "" = none
	runID, memoryID, executorMemoryID string
	detach                            bool
}

func readRunFlags(c *ui.Call) (f runFlags, err error) {
	f = runFlags{
		replay: replayFlags{c.String("replay"), c.String("from"), c.String("on-drift")},
		params: c.StringSlice("param"), files: c.StringSlice("file"), paramsFile: c.String("params"), messages: c.String("messages"),
		runID: c.String("run-id"), memoryID: c.String("memory-id"), executorMemoryID: c.String("executor-memory-id"),
		detach: c.Bool("detach"),
	}
	f.sessionFlags, err = readSessionFlags(c)
	return f, err
}

func runSpec(c *ui.Call) error {
	f, err := readRunFlags(c)
	if err != nil {
		return err
	}
	from, err := readRecording(c, f.replay)
	if err != nil {
		return err
	}
	var analyzers []dsl.Analyzer
	if from.callsModels() {
		analyzers = append(analyzers, host.UnsetKeys(c.EnvFiles))
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
	in, err := f.input(c, p, from)
	if err != nil {
		return err
	}
	if in.Origin, err = project.OriginOf(c, spec); err != nil {
		return err
	}
	warnUnreadable(c, f.files, p, filepath.Dir(spec.File))
	h, err := host.New(p, project.SignIn(c, spec, host.SettingsOf(c.Catalog, in.Origin, dir, in.Parameters)))
	if err != nil {
		return failure.Usagef("%w", err)
	}
	homedir.Create(dir)
	s, err := runs.Open(dir, project.RunsEnv(c, dir))
	if err != nil {
		return failure.Infra(fmt.Errorf("%w (--home or PEX_HOME names another place for runs)", err))
	}
	if f.detach {
		return f.detached(c, s, in)
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
	return execute(c, s, session, f.sessionFlags, func(res *engine.Result) []string {
		return nextSteps(c.Arg(0), project.HomeArgument(c, dir), spec, p, res)
	})
}

// input gathers what the run is given. The parameters of the run that it replays
// count where --params names no others.
func (f *runFlags) input(c *ui.Call, p *engine.Program, from *recording) (engine.Input, error) {
	file, err := from.parameters(p)
	if err != nil {
		return engine.Input{}, err
	}
	if f.paramsFile != "" {
		if file, err = ui.ReadGiven(c, "--params", f.paramsFile, ui.MostArguments); err != nil {
			return engine.Input{}, err
		}
	}
	for _, name := range f.files {
		if _, err := os.Stat(name); err != nil {
			return engine.Input{}, failure.Usagef("--file: %w", err)
		}
	}
	question, err := project.QuestionOf(c)
	if err != nil {
		return engine.Input{}, err
	}
	earlier, question, err := f.opening(c, file, question)
	if err != nil {
		return engine.Input{}, err
	}
	params, err := dsl.Inputs(p, question, f.params, file)
	if err != nil {
		return engine.Input{}, failure.Usagef("%w", err)
	}
	in := engine.Input{
		Parameters: params, MemoryID: f.memoryID, Files: f.files,
		ExecutorMemoryID: f.executorMemoryID, Earlier: earlier,
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
	in.RunID, err = project.NewRunID(f.runID)
	return in, err
}
