package servecmd

import (
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/fleet"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/bundle"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/providers/temporal"
	"github.com/pexctl/pex/providers/temporal/attribute"
	"github.com/pexctl/pex/providers/temporal/queue"
	"github.com/pexctl/pex/server/agents"
)

// The kinds of work of --queues.
const (
	workflowQueue = "workflow"
	llmQueue      = "llm"
	toolQueue     = "tool"
	memoryQueue   = "memory"
)

// WorkerCommand returns "pexctl worker".
func WorkerCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "worker", Usage: "Execute runs of a Temporal namespace, together with other workers", ArgsUsage: "[SPEC...]",
		Description: ui.Help("A worker takes work from the task queues of a Temporal namespace: it executes runs that pexctl run --driver temporal started, calls models and tools, and stores conversations. Runs bring their specs along. SPEC names those whose llms the worker calls: each llm has a queue, which keeps its rate_limit for all workers together. API keys are needed only where llms are called. The connection is that of Temporal's own tools: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY, TEMPORAL_TLS_*, or a profile of temporal.toml. On SIGTERM or Ctrl-C, the worker ends the calls in flight and takes no more.",
			"pexctl worker specs/* # All work of these specs",
			"pexctl worker spec.yaml --queues llm,tool # Calls only: other workers execute the runs",
			"pexctl worker spec.yaml --host gpu # Also the tools with host: gpu",
		),
		Flags: slices.Concat(
			[]cli.Flag{
				&cli.StringSliceFlag{Name: "queues", Usage: "`KIND,...`: Take only this work: workflow, llm, tool, memory (default: all)"},
				&cli.StringSliceFlag{Name: "host", Usage: "`LABEL`: Also call the tools whose spec has this host"},
				&cli.IntFlag{Name: "max", Value: temporal.DefaultMax, Usage: "Perform at most `N` calls of each queue at the same time"},
				&cli.StringFlag{Name: "build-id", Usage: "Take part in Worker Versioning as build `ID`: runs stay on workers of the build that started them"},
				&cli.BoolFlag{Name: "create-attributes", Usage: "Create the search attributes of runs if the namespace does not have them"},
				&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "Log only warnings and errors"},
				project.SetFlag("spec"), project.HomeFlag(), project.TrustFlag(),
			},
			fleet.Flags(ui.GroupStorage),
			logFlags("info", ""),
			project.SpecFiles(),
		),
		Action: env.Action(work),
	}
}

// work executes work until the process receives a signal.
func work(c *ui.Call) (err error) {
	log, err := newLog(c)
	if err != nil {
		return err
	}
	o := temporal.Options{MaxActivities: c.Int("max"), Grace: project.Grace, Hosts: c.StringSlice("host"), BuildID: c.String("build-id"), Logger: log}
	if o.MaxActivities < 1 {
		return failure.Usagef("invalid value %d for --max; use 1 or more", o.MaxActivities)
	}
	if err := selectQueues(&o, c.StringSlice("queues")); err != nil {
		return err
	}
	if o.Programs, err = compileAll(c); err != nil {
		return err
	}
	home, err := project.HomeHere(c)
	if err != nil {
		return err
	}
	homedir.Create(home)
	conn, err := fleet.Connect(c, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := prepare(c, conn); err != nil {
		return err
	}
	var shared *agents.SharedMemory
	o.Client, o.Codec = conn.Client, conn.Codec
	o.Env, shared = environment(c, home)
	defer func() { err = errors.Join(err, shared.Close()) }()
	w, err := temporal.New(o)
	if _, ok := errors.AsType[*queue.ConflictError](err); ok {
		return failure.Usagef("%w", err)
	}
	if errors.Is(err, temporal.ErrIdle) {
		return failure.WithHintf(failure.Usagef("%w", err), "name the specs whose llms it calls: pexctl worker spec.yaml --queues llm")
	}
	if err != nil {
		return err
	}
	if err := w.Check(c.Context, conn.Namespace); err != nil {
		return failure.Infra(err)
	}
	if o.Models && len(o.Programs) == 0 {
		log.Warn("no spec is given, so this worker calls no models")
	}
	log.Info("worker takes work", "address", conn.Address, "namespace", conn.Namespace, "queues", strings.Join(w.Queues(), " "))
	ctx, end := ui.OnSignal(c.Context, func() { log.Info("worker ends after the calls in flight") })
	defer end()
	if err := w.Run(ctx); err != nil {
		return failure.Infra(err)
	}
	return nil
}

// selectQueues sets what a worker does.
func selectQueues(o *temporal.Options, kinds []string) error {
	if len(kinds) == 0 {
		kinds = []string{workflowQueue, llmQueue, toolQueue, memoryQueue}
	}
	for kind := range strings.SplitSeq(strings.Join(kinds, ","), ",") {
		switch kind {
		case workflowQueue:
			o.Workflows = true
		case llmQueue:
			o.Models = true
		case toolQueue:
			o.Tools = true
		case memoryQueue:
			o.Memory = true
		default:
			return failure.Usagef("invalid value %q for --queues; use workflow, llm, tool or memory", kind)
		}
	}
	return nil
}

// compileAll compiles the specs of the arguments.
func compileAll(c *ui.Call) (all []*engine.Program, err error) {
	for _, word := range c.Args {
		path, err := project.Local(c, word)
		if err != nil {
			return nil, err
		}
		p, _, found := dsl.Compile(path, project.OptionsFor(c, word))
		if err := ui.ShowDiagnostics(c, project.HintMissing(c, found, word)); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// prepare makes sure that the namespace can store runs.
func prepare(c *ui.Call, conn *fleet.Connection) error {
	check := attribute.Check
	if c.Bool("create-attributes") {
		check = attribute.Create
	}
	err := check(c.Context, conn.Client.OperatorService(), conn.Namespace)
	if err != nil {
		return failure.Infra(err)
	}
	return nil
}

// environment returns what executes the runs of bundles. Their conversations on disk share one store
// per folder.
func environment(c *ui.Call, home string) (env func([]byte) (runs.Env, error), shared *agents.SharedMemory) {
	shared = agents.NewSharedMemory(c.Catalog.Memory)
	components := *c.Catalog
	components.Memory = shared.Open
	m := &bundle.Machine{Components: &components, Home: home, Root: c.Root, Allow: c.AllowPaths}
	base := host.Runs(&components, home, host.Reporter{
		Diagnostics: func(found diag.List) error {
			if found.Failed() {
				return &host.InvalidError{Found: found}
			}
			return nil
		},
		SpecGone: func(string) {},
	})
	base.Sinks = nil // events are those of the client that follows the run
	return func(b []byte) (runs.Env, error) { return m.Env(b, base) }, shared
}
