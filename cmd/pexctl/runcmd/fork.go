package runcmd

import (
	"encoding/json"
	"errors"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
)

func runsForkCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "fork", Usage: "Start a new run from any point of an earlier one", ArgsUsage: "RUN",
		Description: ui.Help("Replays the run up to a point and continues live from there, for example with another spec or model. "+project.RunNames,
			`pexctl runs fork RUN --at step.s2 # Replay everything before step s2`,
			`pexctl runs fork RUN --at reflect.1 --spec other.yaml`,
			`pexctl runs fork RUN --set llms.strong.model=x --at step.s3/turn.2`,
			`pexctl runs fork RUN --at plan.1 --prompt planner.system_prompt=@prompt.md # With an edited prompt`,
			`pexctl runs fork RUN --at plan.1 --prompt planner.system_prompt=@prompt.md --dry-run # What it would do and cost`,
			`pexctl runs fork RUN # Continue from its end, or from the model call that failed`,
		),
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "at", Usage: "Continue live from the call `PATH`, or from the first call whose path starts with PATH (default: the end, or the model call that failed)"},
			&cli.StringFlag{Name: "spec", Usage: "Continue with another `SPEC` (default: the original spec of the run)"},
			project.SetFlag("spec"), promptFlag(),
			&cli.StringFlag{Name: "run-id", Category: ui.GroupStorage, Usage: "`ID`: Set the id of the new run (default: generated from the time)"},
			&cli.BoolFlag{Name: "dry-run", Usage: "Start nothing: print which calls are replayed, which are live, and the worst case of the live part"},
			&cli.BoolFlag{Name: "keep", Usage: "Add the answer to the conversation of the original run"},
			driftFlag(), ui.PricesFlag(), project.TrustFlag(), serverclient.Flag(),
		}, newSessionFlags()...),
		Action: env.Action(forkRun),
	}
}

func forkRun(c *ui.Call) error {
	f, err := readSessionFlags(c)
	if err != nil {
		return err
	}
	server, err := openServer(c, "at", "set", "prompt", "run-id", "on-drift", "dry-run", "events", "include")
	if err != nil {
		return err
	}
	if server != nil {
		return server.fork(f)
	}
	s, parent, err := project.RunArg(c)
	if err != nil {
		return err
	}
	prompts, err := editedPrompts(c)
	if err != nil {
		return err
	}
	fork, err := forkOf(c, s.Dir(), prompts)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return rehearseFork(c, s, parent, fork, prompts)
	}
	session, err := s.Fork(c.Context, parent, fork)
	if err != nil {
		return forkError(c, s, err)
	}
	if err := recordTo(c.Catalog, session, f.record); err != nil {
		return errors.Join(err, session.Discard())
	}
	return execute(c, s, session, f, nil)
}

// forkError adds hints to an error of a fork.
func forkError(c *ui.Call, s *runs.Service, err error) error {
	if e, ok := errors.AsType[*runs.ForkPointError](err); ok {
		if near := ui.Nearest(e.At, e.Paths); near != "" {
			return failure.Usagef("--at %w; did you mean %s?", e, near)
		}
		return failure.Usagef("--at %w (for its calls: pexctl runs show %s)", e, e.Run)
	}
	return project.RunError(c, s, err)
}

// forkOf returns the fork that the flags describe.
func forkOf(c *ui.Call, home string, prompts map[string]string) (fork runs.Fork, err error) {
	fork = runs.Fork{
		At: c.String("at"), Keep: c.Bool("keep"),
		Compile: func(parent engine.Start, raised []string) (*engine.Program, *engine.Origin, error) {
			return forkProgram(c, home, parent, raised, prompts)
		},
		Inputs: func(p *engine.Program, given map[string]any) (map[string]any, error) {
			file, err := json.Marshal(given)
			if err != nil {
				return nil, err
			}
			in, err := dsl.Inputs(p, "", nil, file)
			if err != nil {
				return nil, failure.Usagef("%w (for a parameter that the original run did not have, use --set parameters.NAME.default=VALUE)", err)
			}
			return in, nil
		},
	}
	if fork.OnDrift, err = checkDrift(c.String("on-drift")); err != nil {
		return fork, err
	}
	fork.RunID, err = project.NewRunID(c.String("run-id"))
	return fork, err
}

// forkProgram compiles the program of a fork: of another spec with --spec, else the
// parent's own, with --set and --prompt over both.
func forkProgram(c *ui.Call, home string, parent engine.Start, raised []string, prompts map[string]string) (p *engine.Program, from *engine.Origin, err error) {
	origin := *parent.Input.Origin
	origin.Version = version.String()
	sets := c.Set
	c.PinPrices(origin.Prices)
	defer func() {
		origin.Prices = c.Prices().Used()
		if p != nil {
			host.RecordEdits(&origin, prompts, p)
		}
	}()
	if path := c.String("spec"); path != "" {
		origin.Environ = host.Overrides(os.Environ())
		p, spec, found := dsl.Compile(path, dsl.Options{Catalog: c.Catalog.Catalog, Set: sets, Prompts: prompts, Environ: origin.Environ, AllowPaths: origin.Allow, Prices: c.Prices(), Analyzers: []dsl.Analyzer{host.UnsetKeys()}})
		if err := ui.ShowDiagnostics(c, found); err != nil {
			return nil, nil, err
		}
		origin.Spec, origin.Dir, origin.Root, origin.Set, origin.Prompts = spec.Path(), spec.Dir, spec.Root, sets, nil
		return p, &origin, project.CheckTrust(c, spec, home)
	}
	origin.Set = slices.Concat(origin.Set, raised, sets)
	sets = slices.Concat(raised, sets)
	o := host.RecompileOptions(c.Catalog, &origin, sets...)
	o.Prices, o.Prompts = c.Prices(), prompts
	p, found := dsl.Recompile(parent.Program, origin.Dir, o)
	if err := ui.ShowDiagnostics(c, host.OfSettings(found)); err != nil {
		return nil, nil, err
	}
	return p, &origin, ui.ShowDiagnostics(c, host.MissingKeys(c.Catalog, p, parent.Program, &origin, sets...))
}
