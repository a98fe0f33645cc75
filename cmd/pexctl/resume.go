package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

func resumeCommand() *cli.Command {
	return &cli.Command{
		Name: "resume", Usage: "go on with a run: after a crash, with an answer, or with a higher limit", ArgsUsage: "RUN",
		Description: examples(
			`pexctl resume r-20260102-150405-1a2b3c4d`,
			`pexctl resume RUN --answer step.s1/turn.1/tool.0.approval=approve`,
			`pexctl resume RUN --answer plan.1/approval='deny:look at March only'`,
			`pexctl resume RUN --answer step.s2/turn.1/tool.0='done:"order 7 was sent"'   # a write in doubt; or redo, skip`,
			`pexctl resume RUN --set limits.max_steps=40`,
		),
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "answer", Usage: "answer a question: `PATH=VALUE`, approve, deny[:WHY], edit:JSON, TEXT; of a write in doubt: done:JSON, redo, skip"},
			&cli.StringSliceFlag{Name: "set", Usage: "raise a limit of the run: `limits.NAME=VALUE`"},
			&cli.BoolFlag{Name: "keep-spec", Usage: "go on with the spec as it was when the run began, though its file has changed"},
		}, sessionFlags()...),
		Action: resumeRun,
	}
}

func resumeRun(c *cli.Context) error {
	wantJSON, err := asJSON(c)
	if err != nil {
		return err
	}
	run, err := oneRun(c)
	if err != nil {
		return err
	}
	if err := checkParts(c); err != nil {
		return err
	}
	s := &session{c: c, json: wantJSON, resumed: true}
	past, err := s.reopen(run)
	if err != nil {
		return err
	}
	res := past.look(c.Context, &engine.Follow{})
	over, err := s.prepare(past, res)
	if err != nil || over {
		if cerr := s.close(); err == nil && cerr != nil {
			return infra(cerr)
		}
		if err == nil {
			err = s.again(res)
		}
		return err
	}
	return s.run()
}

// oneRun is the run that a command was given.
func oneRun(c *cli.Context) (string, error) {
	run := c.Args().First()
	if run == "" {
		return "", usage("no run given: pexctl %s RUN (pexctl runs ls lists them)", c.Command.HelpName)
	}
	return run, atMost(c, 1)
}

// reopen locks a run and reads it.
func (s *session) reopen(run string) (*past, error) {
	dir, home, err := homeOfRuns(s.c)
	if err != nil {
		return nil, err
	}
	p, err := readPast(s.c, dir, home, run) // for what it says of itself
	if err != nil {
		return nil, err
	}
	s.dir, s.program, s.host, s.input = dir, p.program, p.host, p.start.Input
	if s.home, err = journal.OpenHome(dir, journal.Durability(p.program.Memory.Durability)); err != nil {
		return nil, infra(err)
	}
	if s.file, err = s.home.Open(run); err != nil {
		return nil, unread(home, dir, run, err)
	}
	s.journal = s.file
	s.closes = append(s.closes, s.file.Close, s.home.Close)
	if p.records, err = s.file.Load(); err != nil { // another session may have ended meanwhile
		_ = s.close()
		return nil, unread(home, dir, run, err)
	}
	return p, nil
}

// prepare checks what the caller wants of the run against how it stands; over
// says that there is nothing left to run.
func (s *session) prepare(p *past, res *engine.Result) (over bool, err error) {
	ended := ended(p.records)
	sets := s.c.StringSlice("set")
	given, err := givenAnswers(s.c.StringSlice("answer"))
	if err != nil {
		return false, err
	}
	if ended && len(given) > 0 {
		return false, usage("run %s has ended (%s): %s", res.RunID, res.StopReason.Code, decided(p.records, given[0].path))
	}
	if ended && len(sets) > 0 && !res.StopReason.Extendable() {
		return false, usage("run %s was not stopped by a limit: it ended %s; pexctl runs fork goes on from anywhere in it", res.RunID, res.StopReason.Code)
	}
	if ended && len(sets) == 0 {
		return true, nil
	}
	if err := s.sameSpec(p); err != nil {
		return false, err
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
		fmt.Fprintf(s.c.App.ErrWriter, "run %s has ended before; this is how:\n", res.RunID)
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
			return usage("--set %s: only limits can be raised; for another spec: pexctl runs fork %s --set %s", set, res.RunID, quoted(set))
		}
	}
	origin := p.start.Input.Origin
	raised, found := dsl.Recompile(p.start.Program, origin.Dir, dsl.Options{
		Catalog: catalog(), Root: origin.Root, AllowPaths: origin.Allow, Set: append(engine.Raises(p.records), sets...),
	})
	if err := show(s.c, found); err != nil {
		return err
	}
	if stop := res.StopReason; ended(p.records) && !stop.Raised(engine.LimitsNow(p.program, p.records), raised.Limits) {
		return usage("run %s was stopped by %s (%s): set that to more than it was", res.RunID, stop.Path, stop.Message)
	}
	s.options.More = &engine.More{Limits: raised.Limits, Set: sets, Spent: res.Usage.ByModel}
	return nil
}

// sameSpec refuses to go on with a run whose spec has changed since.
func (s *session) sameSpec(p *past) error {
	origin := p.start.Input.Origin
	if s.c.Bool("keep-spec") || p.start.Input.From != nil && origin.Spec == "" {
		return nil
	}
	if _, err := os.Stat(origin.Spec); err != nil {
		fmt.Fprintf(s.c.App.ErrWriter, "pexctl: %s is gone: the run goes on with the spec as it was\n", origin.Spec)
		return nil
	}
	now, _, found := dsl.Compile(origin.Spec, dsl.Options{
		Catalog: catalog(), Root: origin.Root, Set: origin.Set, Environ: origin.Environ, AllowPaths: origin.Allow,
	})
	run := p.start.Input.RunID
	if now == nil {
		fmt.Fprint(s.c.App.ErrWriter, found.String())
		return usage("%s cannot be compiled any more; --keep-spec goes on with run %s as it began", origin.Spec, run)
	}
	if now.Digest == p.start.Digest {
		return nil
	}
	fmt.Fprint(s.c.App.ErrWriter, fitFor(s.c.App.ErrWriter, sourceDiff("the run", p.start.Program, origin.Spec, now.Source)))
	return usage("the spec has changed since run %s began: pexctl runs fork %[1]s --spec %s goes on with the new one, --keep-spec with the old one", run, quoted(origin.Spec))
}

// take checks the answers against the questions that are open.
func (s *session) take(p *past, res *engine.Result, given []reply) error {
	if len(given) == 0 && s.options.More == nil {
		return nil
	}
	s.options.Answers, s.options.Resolve = map[string]json.RawMessage{}, map[string]string{}
	for _, g := range given {
		i := slices.IndexFunc(res.Interrupts, func(q engine.Question) bool { return q.Path == g.path })
		if i < 0 {
			return usage("%s; %s", decided(p.records, g.path), openQuestions(res))
		}
		if err := s.answer(res.Interrupts[i], g); err != nil {
			return err
		}
	}
	for _, q := range res.Interrupts {
		if q.Kind == engine.AskReview && s.options.Resolve[q.Path] == "" {
			return usage("%s is in doubt too: --answer %s", q.Path, quoted(q.Path+"="+sampleAnswer(q.Kind)))
		}
	}
	return nil
}

func (s *session) answer(q engine.Question, g reply) error {
	if q.Kind == engine.AskReview {
		body, done := strings.CutPrefix(g.value, "done:")
		if g.value != "redo" && g.value != "skip" && (!done || !json.Valid([]byte(body))) {
			return usage("--answer %s: %q decides nothing about a write in doubt: use done:JSON (what it gave), redo or skip", g.path, g.value)
		}
		s.options.Resolve[g.path] = g.value
		return nil
	}
	d := engine.ParseDecision(g.value)
	if wrong := unclear(q.Kind, g.value, d); wrong != "" {
		return usage("--answer %s: %s; use %s", g.path, wrong, strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(choices(q.Kind)), ">")))
	}
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	s.options.Answers[g.path] = body
	return nil
}

// reply is an answer as the caller wrote it.
type reply struct{ path, value string }

func givenAnswers(args []string) ([]reply, error) {
	var out []reply
	for _, arg := range args {
		path, value, ok := strings.Cut(arg, "=")
		if !ok || path == "" {
			return nil, usage("--answer %s: write PATH=VALUE, as in step.s1/turn.1/tool.0.approval=approve", arg)
		}
		if slices.ContainsFunc(out, func(g reply) bool { return g.path == path }) {
			return nil, usage("--answer %s is given twice: a question takes one decision", path)
		}
		out = append(out, reply{path, value})
	}
	return out, nil
}

// decided says what became of a question that is not open.
func decided(recs []journal.Record, path string) string {
	for _, rec := range journal.Standing(recs) {
		if rec.Kind == journal.Result && rec.Path == path {
			var d engine.Decision
			if json.Unmarshal(rec.Body, &d) == nil && d.Do != "" {
				return fmt.Sprintf("%s was answered before (%s): a question takes one decision", path, d.Do)
			}
			return fmt.Sprintf("%s has its result: nothing is asked about it any more", path)
		}
	}
	if slices.ContainsFunc(journal.Standing(recs), func(r journal.Record) bool { return r.Path == path && r.Class == journal.Question }) {
		return fmt.Sprintf("%s was asked, and nobody answered in time", path)
	}
	return fmt.Sprintf("no question was asked at %s", path)
}

func openQuestions(res *engine.Result) string {
	if len(res.Interrupts) == 0 {
		return "no question is open"
	}
	var paths []string
	for _, q := range res.Interrupts {
		paths = append(paths, q.Path)
	}
	return "open: " + strings.Join(paths, ", ")
}
