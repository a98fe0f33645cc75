package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

func runCommand(env *ui.Env) *cli.Command {
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
			specFlags(),
			&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "a parameter: `NAME=VALUE`"},
			&cli.StringFlag{Name: "params", Usage: "parameters from a JSON `FILE` (- for stdin)"},
			&cli.StringFlag{Name: "run-id", Usage: "`ID` of the run (default: made of the time)"},
			&cli.StringFlag{Name: "memory-id", Usage: "`ID` of the conversation to go on with"},
			&cli.StringFlag{Name: "executor-memory-id", Usage: "`ID` of the steps that the executor goes on with (default: those of the conversation)"},
			&cli.StringSliceFlag{Name: "file", Usage: "a `PATH` to show to the agent"},
			&cli.StringFlag{Name: "messages", Usage: "what was said before: a JSON `FILE` (- for stdin) of messages, [{\"role\": \"user\", \"content\": \"...\"}]; the last of a user is the question where none is given"},
			tenantFlag(), detachFlag(), trustFlag(),
		), append(replayFlags(), sessionFlags()...)...),
		Action: env.Action(runSpec),
	}
}

func runSpec(c *ui.Call) error {
	wantJSON, err := ui.WantsJSON(c)
	if err != nil {
		return err
	}
	var analyzers []dsl.Analyzer
	if liveModels(c) {
		analyzers = append(analyzers, unsetKeys())
	}
	from, err := sourceOf(c)
	if err != nil {
		return err
	}
	c.PinPrices(from.prices())
	p, spec, err := compileWith(c, analyzers)
	if err != nil {
		return err
	}
	if err := checkParts(c); err != nil {
		return err
	}
	if err := checkQuestion(c); err != nil {
		return err
	}
	dir := homeDir(c, spec)
	if err := trusted(c, spec, dir); err != nil {
		return err
	}
	in, err := input(c, p, from.parameters(p))
	if err != nil {
		return err
	}
	if in.Origin, err = originOf(c, spec); err != nil {
		return err
	}
	if from != nil {
		in.From = &from.Source
		in.Aside = len(from.Layers) == 0 // a replay of everything adds nothing to its conversation
	}
	warnUnreadable(c, p, filepath.Dir(spec.File))
	s := &session{c: c, json: wantJSON, dir: dir, program: p, input: in}
	s.hints = func(res *engine.Result) []string {
		return nextSteps(c.Arg(0), homeArgument(c, s.dir), spec, p, res)
	}
	s.host, err = newHost(p, settingsOf(in.Origin, s.dir, in.Parameters).signingIn(c, spec))
	if err != nil {
		return failure.Usagef("%w", err)
	}
	if c.Bool("detach") {
		return s.detach()
	}
	if err := s.create(); err != nil {
		return err
	}
	if err := s.replayed(from); err != nil {
		return errors.Join(err, s.close(), s.home.Remove(in.RunID))
	}
	return s.run()
}

// replayed connects the recording that answers the run, nil = none, and the one
// it makes.
func (s *session) replayed(from *source) error {
	if from != nil {
		s.options.Recorded = s.recordingOf(from.records)
		unplug(&s.host, s.input.From)
	}
	return s.recordTo(s.c.String("record"))
}

// create opens the home, and in it the journal of a new run.
func (s *session) create() (err error) {
	ignored(s.dir)
	s.home, err = journal.OpenHome(s.dir, journal.Durability(s.program.Memory.Durability))
	if err != nil {
		return failure.Infra(fmt.Errorf("%w (--home or PEX_HOME names another place for runs)", err))
	}
	if s.file, err = s.home.Create(s.input.RunID); err != nil {
		return storeError(err)
	}
	s.journal = s.file
	s.closes = append(s.closes, s.file.Close, s.home.Close)
	return nil
}

// input gathers what the run is given; file is the parameters in JSON that
// stand where --params names no others.
func input(c *ui.Call, p *engine.Program, file []byte) (engine.Input, error) {
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
	question, err := questionOf(c)
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
	if in.RunID, err = newRun(c); err != nil {
		return engine.Input{}, err
	}
	return in, nil
}

// storeError tells a caller's mistake from the store's trouble.
func storeError(err error) error {
	var path *fs.PathError
	var held *journal.HeldError
	if errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrCorrupt) || errors.As(err, &path) || errors.As(err, &held) {
		return failure.Infra(err)
	}
	return failure.Usagef("%w", err) // a name that is taken or no name
}

// answer prints the result and gives the run's exit code.
func answer(c *ui.Call, res *engine.Result, wantJSON bool) error {
	if wantJSON {
		if err := ui.PrintJSON(c, res); err != nil {
			return failure.Infra(err)
		}
	} else {
		printAnswer(c, res)
	}
	if code := res.StopReason.ExitCode(res.Status); code != ui.ExitOK {
		return ui.Exit(code, nil)
	}
	return nil
}

// conversation is what --include may name.
const conversation = "conversation"

func checkParts(c *ui.Call) error {
	for _, part := range c.StringSlice("include") {
		if part != conversation {
			return failure.Usagef("--include %s: there is %s", part, conversation)
		}
	}
	return nil
}

// printAnswer puts the answer, and nothing else, on stdout; why there is none,
// or why it came early, goes to stderr.
//
// With --events - stdout belongs to the events: the answer goes to stderr too, or
// with --quiet nowhere, since the last event has it.
func printAnswer(c *ui.Call, res *engine.Result) {
	out, events := ui.Verbatim(c.Stdout), c.String("events") == ui.FromStdin
	if events {
		out = c.Stderr
	}
	if res.Response != "" && (!events || !c.Bool("quiet")) {
		text := res.Response
		var indented bytes.Buffer
		if len(res.Output) > 0 && json.Indent(&indented, res.Output, "", "  ") == nil {
			text = indented.String()
		}
		fmt.Fprintln(out, strings.TrimRight(text, "\n"))
	}
	if res.Status != engine.Completed {
		fmt.Fprintf(c.Stderr, "%s: %s\n", res.Status, tty.Safe(reasonText(res)))
	}
}

func reasonText(res *engine.Result) string {
	r := res.StopReason
	text := string(r.Code)
	switch {
	case strings.HasPrefix(r.Message, text), r.Code == engine.StopInterrupted && r.Message != "":
		text = r.Message
	case r.Message != "":
		text += ": " + r.Message
	}
	if r.Path != "" && !strings.HasSuffix(text, r.Path) {
		head, rest, more := strings.Cut(text, "\n")
		if text = head + " (" + r.Path + ")"; more {
			text += "\n" + rest
		}
	}
	lines := []string{text}
	for _, q := range res.Interrupts {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s: %s %s %s %s", q.Path, q.Kind, q.Tool, q.Args, q.Question)), " "))
	}
	return strings.Join(lines, "\n  ")
}
