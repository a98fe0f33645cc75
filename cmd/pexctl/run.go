package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run a spec to an answer", ArgsUsage: `SPEC ["QUESTION"]`,
		Description: examples(
			`pexctl run specs/hello`,
			`pexctl run spec.yaml "Why is checkout slow?" -p service=checkout`,
			`pexctl run spec.yaml "And since when?" --memory-id incident-7   # goes on with a conversation`,
			`pexctl run spec.yaml -o json | jq .stop_reason`,
			`pexctl run spec.yaml --set limits.max_steps=5 --events events.jsonl`,
		),
		Flags: append(
			specFlags(),
			&cli.StringSliceFlag{Name: "param", Aliases: []string{"p"}, Usage: "a parameter: `NAME=VALUE`"},
			&cli.StringFlag{Name: "params", Usage: "parameters from a JSON `FILE`"},
			&cli.StringFlag{Name: "run-id", Usage: "`ID` of the run (default: made of the time)"},
			&cli.StringFlag{Name: "memory-id", Usage: "`ID` of the conversation to go on with"},
			&cli.StringSliceFlag{Name: "file", Usage: "a `PATH` to show to the agent"},
			&cli.StringFlag{Name: "events", Usage: "write every event as a JSON line to `FILE` (- for stdout)"},
			&cli.StringSliceFlag{Name: "include", Usage: "add to the JSON result: `PART` conversation"},
			&cli.BoolFlag{Name: "no-stream", Usage: "ask models for whole replies"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress on stderr"},
			outputFlag(), homeFlag(),
		),
		Action: runSpec,
	}
}

func runSpec(c *cli.Context) error {
	wantJSON, err := asJSON(c)
	if err != nil {
		return err
	}
	p, spec, err := compile(c)
	if err != nil {
		return err
	}
	if err := checkParts(c); err != nil {
		return err
	}
	in, err := input(c, p)
	if err != nil {
		return err
	}
	host, err := newHost(p, hostSettings{
		catalog: catalog(), dir: spec.Dir, root: spec.Root, allow: c.StringSlice("allow-path"),
		home: homeDir(c, spec), env: environment, parameters: in.Parameters,
	})
	if err != nil {
		return usage("%w", err)
	}
	home, file, err := openJournal(homeDir(c, spec), p.Memory.Durability, in.RunID)
	if err != nil {
		return err
	}
	watch, err := newWatch(c, wantJSON)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	host.Sinks = watch.sinks
	host.People = watch.people
	ctx, stop := onSignal(c.Context, func() {
		watch.note("suspending: what is under way may end; once more to stop at once")
	})
	defer stop()
	res := engine.Run(ctx, p, in, host, engine.Options{
		Journal: file, Stream: !c.Bool("no-stream"), Grace: 5 * time.Second,
		Conversation: slices.Contains(c.StringSlice("include"), conversation),
	})
	lost := errors.Join(watch.close(), file.Close(), home.Close())
	err = answer(c, res, wantJSON)
	switch {
	case lost != nil && err == nil:
		err = infra(lost)
	case lost != nil: // how the run ended matters more
		fmt.Fprintln(c.App.ErrWriter, "pexctl:", lost)
	}
	if res.StopReason.Code == engine.StopSuspended && errors.Is(context.Cause(ctx), errTerminated) {
		err = &exitError{exitTerminated, nil}
	}
	if !wantJSON && !c.Bool("quiet") {
		hint(c.App.ErrWriter, nextSteps(c.Args().First(), spec, p, res))
	}
	return err
}

// openJournal opens the home, and in it the journal of a new run.
func openJournal(dir, durability, run string) (*journal.Home, *journal.File, error) {
	home, err := journal.OpenHome(dir, journal.Durability(durability))
	if err != nil {
		return nil, nil, infra(fmt.Errorf("%w (--home or PEX_HOME names another place for runs)", err))
	}
	file, err := home.Create(run)
	if err != nil {
		return nil, nil, storeError(err)
	}
	return home, file, nil
}

// input gathers what the run is given.
func input(c *cli.Context, p *engine.Program) (engine.Input, error) {
	var file []byte
	if name := c.String("params"); name != "" {
		b, err := os.ReadFile(name)
		if err != nil {
			return engine.Input{}, usage("--params: %w", err)
		}
		file = b
	}
	for _, name := range c.StringSlice("file") {
		if _, err := os.Stat(name); err != nil {
			return engine.Input{}, usage("--file: %w", err)
		}
	}
	question := strings.Join(c.Args().Tail(), " ")
	params, err := dsl.Inputs(p, question, c.StringSlice("param"), file)
	if err != nil {
		return engine.Input{}, usage("%w", err)
	}
	in := engine.Input{
		RunID: c.String("run-id"), Parameters: params, MemoryID: c.String("memory-id"), Files: c.StringSlice("file"),
	}
	if in.RunID == "" {
		in.RunID = newRunID(time.Now())
	}
	return in, nil
}

// storeError tells a caller's mistake from the store's trouble.
func storeError(err error) error {
	var path *fs.PathError
	if errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrCorrupt) || errors.As(err, &path) {
		return infra(err)
	}
	return usage("%w", err) // a name that is taken, held or no name
}

// answer prints the result and gives the run's exit code.
func answer(c *cli.Context, res *engine.Result, wantJSON bool) error {
	if wantJSON {
		if err := printJSON(c, res); err != nil {
			return infra(err)
		}
	} else {
		printAnswer(c, res)
	}
	if code := res.StopReason.ExitCode(res.Status); code != exitOK {
		return &exitError{code, nil}
	}
	return nil
}

// conversation is what --include may name.
const conversation = "conversation"

func checkParts(c *cli.Context) error {
	for _, part := range c.StringSlice("include") {
		if part != conversation {
			return usage("--include %s: there is %s", part, conversation)
		}
	}
	return nil
}

// printAnswer puts the answer, and nothing else, on stdout; why there is none,
// or why it came early, goes to stderr.
func printAnswer(c *cli.Context, res *engine.Result) {
	if res.Response != "" {
		text := res.Response
		var indented bytes.Buffer
		if len(res.Output) > 0 && json.Indent(&indented, res.Output, "", "  ") == nil {
			text = indented.String()
		}
		fmt.Fprintln(c.App.Writer, strings.TrimRight(fitFor(c.App.Writer, text), "\n"))
	}
	if res.Status != engine.Completed {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", res.Status, sink.Safe(reasonText(res)))
	}
}

func reasonText(res *engine.Result) string {
	r := res.StopReason
	text := string(r.Code)
	switch {
	case strings.HasPrefix(r.Message, text):
		text = r.Message
	case r.Message != "":
		text += ": " + r.Message
	}
	if r.Path != "" {
		text += " (" + r.Path + ")"
	}
	lines := []string{text}
	for _, q := range res.Interrupts {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s: %s %s %s %s", q.Path, q.Kind, q.Tool, q.Args, q.Question)), " "))
	}
	return strings.Join(lines, "\n  ")
}
