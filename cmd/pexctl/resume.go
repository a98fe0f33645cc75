package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

func resumeCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "resume", Usage: "go on with a run: after a crash, with an answer, or with a higher limit", ArgsUsage: "RUN",
		Description: ui.Examples(
			`pexctl resume r-20260102-150405-1a2b3c4d`,
			`pexctl resume last --answer approve       # the one question that is open`,
			`pexctl resume RUN --answer step.s1/turn.1/tool.0.approval=approve   # one of several`,
			`pexctl resume RUN --answer plan.1/approval='deny:look at March only'`,
			`pexctl resume RUN --answer step.s2/turn.1/tool.0='done:"order 7 was sent"'   # a write in doubt; or redo, skip`,
			`pexctl resume RUN --set limits.max_steps=40`,
		) + "\n\n" + runNames,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "answer", Usage: "answer a question: `[PATH=]VALUE`, approve, deny[:WHY], edit:JSON, TEXT; of a write in doubt: done:JSON, redo, skip; PATH says which, where several are open"},
			&cli.StringSliceFlag{Name: "set", Usage: "raise a limit of the run: `limits.NAME=VALUE`"},
			&cli.BoolFlag{Name: "keep-spec", Usage: "go on with the spec as it was when the run began, though its file has changed"},
		}, sessionFlags()...),
		Action: env.Action(resumeRun),
	}
}

func resumeRun(c *ui.Call) error {
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
	s := &session{c: c, json: wantJSON, resumed: true}
	past, err := s.reopen(t)
	if err != nil {
		return err
	}
	res := past.look(c.Context, &engine.Follow{})
	over, err := s.prepare(past, res)
	if err != nil || over {
		if cerr := s.close(); err == nil && cerr != nil {
			return failure.Infra(cerr)
		}
		if err == nil {
			err = s.again(res)
		}
		return err
	}
	return s.run()
}

// reopen locks a run and reads it.
func (s *session) reopen(t target) (*past, error) {
	p, err := t.past(s.c) // for what it says of itself
	if err != nil {
		return nil, err
	}
	s.dir, s.program, s.host, s.input = t.dir, p.program, p.host, p.start.Input
	if s.home, err = journal.OpenHome(t.dir, journal.Durability(p.program.Memory.Durability)); err != nil {
		return nil, failure.Infra(err)
	}
	if s.file, err = s.home.Open(t.run); err != nil {
		return nil, unread(t.home, t.dir, t.run, err)
	}
	s.journal = s.file
	s.closes = append(s.closes, s.file.Close, s.home.Close)
	if p.records, err = s.file.Load(); err != nil { // another session may have ended meanwhile
		_ = s.close()
		return nil, unread(t.home, t.dir, t.run, err)
	}
	return p, nil
}

// prepare checks what the caller wants of the run against how it stands; over
// says that there is nothing left to run.
func (s *session) prepare(p *past, res *engine.Result) (over bool, err error) {
	ended := ended(p.records)
	sets := s.c.StringSlice("set")
	given, err := s.givenAnswers(p, res)
	if err != nil {
		return false, err
	}
	if ended && len(sets) > 0 && !res.StopReason.Extendable() {
		return false, failure.Usagef("run %s was not stopped by a limit: it ended %s; pexctl runs fork goes on from anywhere in it", res.RunID, res.StopReason.Code)
	}
	if ended && len(sets) == 0 {
		return true, nil
	}
	if err := s.sameSpec(p); err != nil {
		return false, err
	}
	if callsModels(s.input.From) {
		if err := keysOf(s.c, p.program, p.start.Program, p.start.Input.Origin); err != nil {
			return false, err
		}
	}
	if err := s.raise(p, res, sets); err != nil {
		return false, err
	}
	if s.options.Recorded, err = s.recording(s.home); err != nil {
		return false, fmt.Errorf("run %s goes on with what another run recorded: %w", res.RunID, err)
	}
	if s.options.Recorded != nil {
		s.options.Recorded.Resume(p.records)
	}
	if err := s.take(p, res, given); err != nil {
		return false, err
	}
	return false, s.recordTo(s.c.String("record"))
}

// again shows how a run ended that has ended before.
func (s *session) again(res *engine.Result) error {
	if !s.c.Bool("quiet") {
		fmt.Fprintf(s.c.Stderr, "run %s has ended before; this is how:\n", res.RunID)
	}
	if !slices.Contains(s.c.StringSlice("include"), conversation) {
		res.Conversation = nil
	}
	return s.tell(res)
}

// ended says whether a run has its last record.
func ended(recs []journal.Record) bool {
	recs = journal.Standing(recs)
	return len(recs) > 0 && recs[len(recs)-1].Kind == journal.End
}

// raise takes over higher limits: those set by earlier sessions, then these.
func (s *session) raise(p *past, res *engine.Result, sets []string) error {
	if len(sets) == 0 {
		return nil
	}
	for _, set := range sets {
		if !strings.HasPrefix(set, "limits.") {
			return failure.Usagef("--set %s: only limits can be raised; for another spec: pexctl runs fork %s --set %s", set, res.RunID, fspath.Quote(set))
		}
	}
	origin := p.start.Input.Origin
	raised, found := dsl.Recompile(p.start.Program, origin.Dir, recompileOptions(origin, append(engine.Raises(p.records), sets...)...))
	if err := ui.ShowDiagnostics(s.c, ofSettings(found)); err != nil {
		return err
	}
	if stop := res.StopReason; ended(p.records) && !stop.Raised(engine.LimitsNow(p.program, p.records), raised.Limits) {
		return failure.Usagef("run %s was stopped by %s (%s): set that to more than it was", res.RunID, stop.Path, stop.Message)
	}
	s.options.More = &engine.More{Limits: raised.Limits, Set: sets, Spent: res.Usage.ByModel, Lost: res.Lost}
	return nil
}

// ofSettings is what is wrong with a run's program that is made again, but for
// warnings that it came with: those were told when it began, or ignored by a
// comment, which the journal does not keep. Those of a --set are new.
func ofSettings(found diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(found), func(d diag.Diagnostic) bool {
		return d.Severity == diag.Warning && !strings.HasPrefix(d.File, "--set ")
	})
}

// sameSpec refuses to go on with a run whose spec has changed since.
func (s *session) sameSpec(p *past) error {
	origin := p.start.Input.Origin
	if s.c.Bool("keep-spec") || origin.Spec == "" {
		return nil
	}
	if _, err := os.Stat(specfs.FileOf(origin.Spec)); err != nil {
		fmt.Fprintf(s.c.Stderr, "pexctl: %s is gone: the run goes on with the spec as it was\n", origin.Spec)
		return nil
	}
	o := recompileOptions(origin, origin.Set...)
	o.Environ, o.Prices = origin.Environ, dsl.RecordedPrices(origin.Prices, dsl.KnownPrices())
	now, _, found := dsl.Compile(origin.Spec, o)
	run := p.start.Input.RunID
	if now == nil {
		fmt.Fprint(s.c.Stderr, found.String())
		return failure.Usagef("%s cannot be compiled any more; --keep-spec goes on with run %s as it began", origin.Spec, run)
	}
	if now.Digest == p.start.Digest {
		return nil
	}
	fmt.Fprint(s.c.Stderr, ui.Safe(s.c.Stderr, sourceDiff("the run", p.start.Program, origin.Spec, now.Source)))
	return failure.Usagef("the spec has changed since run %s began: pexctl runs fork %[1]s --spec %s goes on with the new one, --keep-spec with the old one", run, fspath.Quote(origin.Spec))
}
