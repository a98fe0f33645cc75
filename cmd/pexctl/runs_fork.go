package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

func runsForkCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "fork", Usage: "begin a new run that goes on from a place in another", ArgsUsage: "RUN",
		Description: ui.Examples(
			`pexctl runs fork RUN --at step.s2                    # all before step s2 stands, the rest is live`,
			`pexctl runs fork RUN --at reflect.1 --spec other.yaml`,
			`pexctl runs fork RUN --set llms.strong.model=x --at step.s3/turn.2`,
			`pexctl runs fork RUN                                 # from its end, or from the model call that failed`,
		) + "\n\n" + runNames,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "at", Usage: "effect `PATH`, or the beginning of one, that is the first to be live"},
			&cli.StringFlag{Name: "spec", Usage: "go on with another `SPEC` (default: the run's own, as it was)"},
			&cli.StringSliceFlag{Name: "set", Usage: "override a value of the spec: dotted `PATH=YAML`"},
			&cli.StringFlag{Name: "run-id", Usage: "`ID` of the new run (default: made of the time)"},
			&cli.BoolFlag{Name: "keep", Usage: "add the answer to the conversation of the run, which a fork leaves alone"},
			driftFlag(), ui.PricesFlag(), trustFlag(),
		}, sessionFlags()...),
		Action: env.Action(forkRun),
	}
}

func driftFlag() cli.Flag {
	return &cli.StringFlag{Name: "on-drift", Usage: "what becomes of a request that differs from the recorded one: `HOW` fail or live (default: fail)"}
}

func onDrift(c *ui.Call) (string, error) {
	switch how := c.String("on-drift"); how {
	case "", driftFail:
		return "", nil
	case driftLive:
		return how, nil
	default:
		return "", failure.Usagef("--on-drift %s: there are fail and live", how)
	}
}

func forkRun(c *ui.Call) error {
	wantJSON, err := ui.WantsJSON(c)
	if err != nil {
		return err
	}
	t, err := oneTarget(c)
	if err != nil {
		return err
	}
	if err := checkParts(c); err != nil {
		return err
	}
	parent, err := t.past(c)
	if err != nil {
		return err
	}
	s := &session{c: c, json: wantJSON, dir: t.dir, input: parent.start.Input}
	if err := s.part(parent); err != nil {
		return err
	}
	if s.options.Recorded, err = s.recording(t.home); err != nil {
		return err
	}
	if err := s.create(); err != nil {
		return err
	}
	if err := s.recordTo(c.String("record")); err != nil {
		return errors.Join(err, s.close())
	}
	return s.run()
}

// part makes the fork's input, program and host of those of its parent.
func (s *session) part(parent *past) (err error) {
	if s.input.From, err = forkPoint(s.c, parent); err != nil {
		return err
	}
	s.input.Aside = !s.c.Bool("keep")
	if s.input.RunID, err = newRun(s.c); err != nil {
		return err
	}
	if err := s.forkProgram(parent); err != nil {
		return err
	}
	s.widen(parent)
	if s.input.Parameters, err = dsl.Inputs(s.program, "", nil, takenBy(s.program, parent.start.Input.Parameters)); err != nil {
		return failure.Usagef("%w (--set parameters.NAME.default=VALUE gives a fork what its run was not given)", err)
	}
	if s.host, err = newHost(s.program, settingsOf(s.input.Origin, s.dir, s.input.Parameters)); err != nil {
		return failure.Usagef("%w", err)
	}
	return nil
}

// forkProgram makes the program that the fork goes on with.
func (s *session) forkProgram(parent *past) error {
	origin := *parent.start.Input.Origin
	origin.Version = buildVersion()
	s.input.Origin = &origin
	sets := s.c.StringSlice("set")
	s.c.PinPrices(origin.Prices)
	defer func() { origin.Prices = s.c.Prices().Used() }()
	if path := s.c.String("spec"); path != "" {
		origin.Environ = overrides(os.Environ())
		p, spec, found := dsl.Compile(path, dsl.Options{Catalog: catalog(), Set: sets, Environ: origin.Environ, AllowPaths: origin.Allow, Prices: s.c.Prices(), Analyzers: []dsl.Analyzer{unsetKeys()}})
		if err := ui.ShowDiagnostics(s.c, found); err != nil {
			return err
		}
		if err := trusted(s.c, spec, s.dir); err != nil {
			return err
		}
		s.program = p
		origin.Spec, origin.Dir, origin.Root, origin.Set = spec.Path(), spec.Dir, spec.Root, sets
		return nil
	}
	origin.Set = slices.Concat(origin.Set, engine.Raises(parent.records), sets)
	o := recompileOptions(&origin, append(engine.Raises(parent.records), sets...)...)
	o.Prices = s.c.Prices()
	p, found := dsl.Recompile(parent.start.Program, origin.Dir, o)
	if err := ui.ShowDiagnostics(s.c, ofSettings(found)); err != nil {
		return err
	}
	s.program = p
	return keysOf(s.c, p, parent.start.Program, &origin, append(engine.Raises(parent.records), sets...)...)
}

// forkPoint is what of the parent stands: all before the effect that --at
// names; without it all there is, but for the model call that a run failed at.
func forkPoint(c *ui.Call, parent *past) (*engine.Source, error) {
	how, err := onDrift(c)
	if err != nil {
		return nil, err
	}
	recs := journal.Standing(parent.records)
	from := &engine.Source{Run: parent.start.Input.RunID, Until: recs[len(recs)-1].Seq + 1, OnDrift: how}
	at := c.String("at")
	if at == "" {
		if seq := failedCall(recs); seq != 0 {
			from.Until = seq
		}
		return from, nil
	}
	var paths []string
	for _, rec := range recs {
		if rec.Kind != journal.Intent {
			continue
		}
		if leadsTo(at, rec.Path) {
			from.Until = rec.Seq
			return from, nil
		}
		paths = append(paths, rec.Path)
	}
	if near := ui.Nearest(at, paths); near != "" {
		return nil, failure.Usagef("--at %s: run %s has no effect there; did you mean %s?", at, from.Run, near)
	}
	return nil, failure.Usagef("--at %s: run %s has no effect there (pexctl runs show %s names them)", at, from.Run, from.Run)
}

// leadsTo says that an effect is the one named, or lies below it; a step may be
// named by its id alone.
func leadsTo(at, path string) bool {
	at = strings.TrimSuffix(filepath.ToSlash(at), "/")
	return path == at || strings.HasPrefix(path, at+"/") || strings.HasPrefix(path, "step."+at+"/")
}

// widen has a fork that is given more of the limit which its run stopped at go
// on from there, unless it was told where.
func (s *session) widen(parent *past) {
	if s.c.String("at") != "" {
		return
	}
	res := parent.look(s.c.Context, &engine.Follow{})
	if res.Limit != 0 && res.StopReason.Raised(engine.LimitsNow(parent.program, parent.records), s.program.Limits) {
		s.input.From.Until = res.Limit
	}
}

// failedCall is the intent of the model call whose failure ended a run, or 0:
// the last one, if it failed. What a run does at its end calls no model.
func failedCall(recs []journal.Record) uint64 {
	var last journal.Record
	failed := false
	for i := range recs {
		switch rec := &recs[i]; {
		case drift.IsRequest(rec):
			last, failed = *rec, false
		case rec.Kind == journal.Result && rec.Path == last.Path:
			failed = rec.Status == journal.Failed
		}
	}
	if !failed {
		return 0
	}
	return last.Seq
}
