package runcmd

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
)

// RunCommand returns "pexctl run".
func RunCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "run", Aliases: []string{"exec"}, Usage: "Run an agent and print its answer", ArgsUsage: `SPEC ["QUESTION"]`,
		Description: ui.Help("SPEC is a file, a folder with a spec.yaml, an agent in a file (team.yaml#writer) or a URL. QUESTION is optional if --messages, --params or the spec contains one. The answer goes to stdout, progress to stderr. Every call of the run is stored (see --home), so that you can resume, inspect and replay the run.",
			`pexctl run my-agent "Why is checkout slow?"`,
			`pexctl run spec.yaml "Why is checkout slow?" -p service=checkout # Set a parameter`,
			`pexctl run spec.yaml "And since when?" --memory-id incident-7 # Continue a conversation`,
			`pexctl run spec.yaml "Why?" --model openai/gpt-5.4-mini # Try another model`,
			`git log -5 | pexctl run spec.yaml - # Read the question from stdin`,
			`pexctl run spec.yaml -o json | jq .stop_reason`,
			`pexctl run https://example.com/agents/triage.yaml "Why?" # Run an agent from a URL; you are asked whether to trust it`,
			`pexctl run triage "Why?" --server https://agents.example.com # Run an agent of a server (pexctl serve)`,
		),
		Flags: slices.Concat(
			ui.Group(ui.GroupCommon,
				&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "`NAME=VALUE`: Set a parameter"},
				project.SetFlag("spec"),
				project.ModelFlag(),
				&cli.StringFlag{Name: "memory-id", Usage: "Start or continue conversation `ID`"},
				ui.OutputFlag(),
				&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "Print no progress, and do not ask for approvals or answers: a run that needs one exits with code 5"},
			),
			ui.Group(ui.GroupInput,
				&cli.StringFlag{Name: "params", Usage: "Read parameters from a JSON `FILE` (- for stdin)"},
				&cli.StringSliceFlag{Name: "file", Usage: "Let the agent read the file `PATH`: the path is added to the prompts, and file tools can open it"},
				&cli.StringFlag{Name: "messages", Usage: "`FILE`: Read earlier messages from JSON (- for stdin), [{\"role\": \"user\", \"content\": \"...\"}]. If no question is given, the last user message is the question"},
				&cli.StringFlag{Name: "executor-memory-id", Usage: "Store the executor's steps in conversation `ID`, and show the executor the earlier steps of this conversation (default: the --memory-id plus \"/executor\")"},
			),
			newReplayFlags(),
			ui.Group(ui.GroupRunning, detachFlag(), &cli.StringSliceFlag{Name: "label", Usage: "`KEY=VALUE`: Set a label of the run; pexctl runs ls --label finds it"}),
			newRecordFlags(),
			project.SpecFiles(),
			fleetFlags(),
			[]cli.Flag{
				project.TrustFlag(),
				&cli.StringFlag{Name: "run-id", Category: ui.GroupStorage, Usage: "`ID`: Set the id of the run (default: generated from the time)"},
				project.TenantFlag(), project.HomeFlag(), serverclient.Flag(),
			},
		),
		Action: env.Action(runSpec),
	}
}

// runFlags are the flags of run.
type runFlags struct {
	sessionFlags
	replay                            replayFlags
	params, files, labels             []string
	paramsFile, messages              string // JSON files; ui.FromStdin for stdin; "" for none
	runID, memoryID, executorMemoryID string
	detach                            bool
}

func readRunFlags(c *ui.Call) (f runFlags, err error) {
	f = runFlags{
		replay: replayFlags{c.String("replay"), c.String("from"), c.String("on-drift")},
		params: c.StringSlice("param"), files: c.StringSlice("file"), labels: c.StringSlice("label"), paramsFile: c.String("params"), messages: c.String("messages"),
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
	if remote, err := onFleet(c); err != nil {
		return err
	} else if remote {
		return f.runOnFleet(c)
	}
	server, err := openServer(c, "param", "params", "messages", "memory-id", "executor-memory-id", "set", "run-id", "label", "file", "events", "include", "detach")
	if err != nil {
		return err
	}
	if server != nil {
		return f.runOnServer(c, server)
	}
	return f.runHere(c)
}

// runHere executes the run in this process, or a detached one.
func (f *runFlags) runHere(c *ui.Call) error {
	from, err := readRecording(c, f.replay)
	if err != nil {
		return err
	}
	var analyzers []dsl.Analyzer
	if from.callsModels() {
		analyzers = append(analyzers, host.UnsetKeys())
	}
	c.PinPrices(from.prices())
	if err := project.ApplyModelFlag(c); err != nil {
		return err
	}
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
	h, err := host.New(p, project.SignIn(c, spec, host.SettingsOf(c.Catalog, in.Origin, dir, in.Parameters)))
	if err != nil {
		return failure.Usagef("%w", err)
	}
	homedir.Create(dir)
	if len(f.files) > 0 {
		if err := attach(c, p, &in, dir, filepath.Dir(spec.File)); err != nil {
			return err
		}
	}
	s, err := project.OpenHome(c, dir)
	if err != nil {
		return err
	}
	if f.detach {
		return f.startDetached(c, s, in)
	}
	session, err := s.Start(runs.NewRun{Program: p, Input: in, Host: h, Records: from.journal()})
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

// input collects the input of the run. Without --params the parameters of the
// replayed run apply, and without --file its files.
func (f *runFlags) input(c *ui.Call, p *engine.Program, from *recording) (engine.Input, error) {
	file, err := from.parameters(p)
	if err != nil {
		return engine.Input{}, err
	}
	if f.paramsFile != "" {
		if file, err = ui.ReadInput(c, "--params", f.paramsFile, ui.MaxArguments); err != nil {
			return engine.Input{}, err
		}
		if err := checkJSON(f.paramsFile, file); err != nil {
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
	caller := tracecontext.ParseCaller(os.Getenv(tracecontext.Variable), os.Getenv(tracecontext.StateVariable))
	in.Trace, in.TraceState = caller.Parent, caller.State
	if in.Labels, err = engine.ParseLabels(f.labels); err != nil {
		return engine.Input{}, failure.Usagef("--label: %w", err)
	}
	if len(in.Files) > 0 {
		if in.FilesDir, err = os.Getwd(); err != nil {
			return engine.Input{}, failure.Usagef("--file: %w", err)
		}
	}
	if in.ExecutorMemoryID != "" && in.ExecutorMemoryID == in.MemoryID {
		return engine.Input{}, failure.Usagef("--executor-memory-id must differ from --memory-id; use another id, or leave it out")
	}
	if from != nil {
		from.addFiles(&in)
		in.From = &from.from
		in.Detached = len(from.from.Layers) == 0 // a full replay adds nothing to its conversation
	}
	in.RunID, err = project.NewRunID(f.runID)
	return in, err
}
