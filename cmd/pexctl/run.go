package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

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
	in, err := input(c, p)
	if err != nil {
		return err
	}
	host, err := newHost(p, hostSettings{
		catalog: catalog(), dir: spec.Dir, root: spec.Root, allow: c.StringSlice("allow-path"),
		home: homeDir(c, spec), env: environment,
	})
	if err != nil {
		return usage("%w", err)
	}
	home, err := journal.OpenHome(homeDir(c, spec), journal.Durability(p.Memory.Durability))
	if err != nil {
		return infra(err)
	}
	file, err := home.Create(in.RunID)
	if err != nil {
		return storeError(err)
	}
	watch, err := newWatch(c, wantJSON)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	host.Sinks = watch.sinks
	host.People = watch.people
	ctx, stop := interruptible(c.Context, c.App.ErrWriter)
	defer stop()
	res := engine.Run(ctx, p, in, host, engine.Options{Journal: file, Stream: !c.Bool("no-stream"), Grace: 5 * time.Second})
	err = errors.Join(watch.close(), file.Close(), home.Close())
	if err != nil {
		err = infra(err)
	}
	return errors.Join(answer(c, res, wantJSON), err)
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
	if !includes(c, "conversation") {
		res.Conversation = nil
	}
	var err error
	if wantJSON {
		err = printJSON(c, res)
	} else {
		err = printAnswer(c, res)
	}
	code := res.StopReason.ExitCode(res.Status)
	if err != nil {
		return infra(err)
	}
	if code == exitOK {
		return nil
	}
	return &exitError{code, nil}
}

func includes(c *cli.Context, part string) bool {
	for _, p := range c.StringSlice("include") {
		if p == part {
			return true
		}
	}
	return false
}

// printAnswer puts the answer, and nothing else, on stdout; why there is none,
// or why it came early, goes to stderr.
func printAnswer(c *cli.Context, res *engine.Result) error {
	if res.Response != "" {
		text := res.Response
		if len(res.Output) > 0 {
			if b, err := json.MarshalIndent(res.Output, "", "  "); err == nil {
				text = string(b)
			}
		}
		if _, err := fmt.Fprintln(c.App.Writer, strings.TrimRight(safe(text), "\n")); err != nil {
			return err
		}
	}
	if res.Status != engine.Completed {
		fmt.Fprintf(c.App.ErrWriter, "%s: %s\n", res.Status, safe(reasonText(res)))
	}
	return nil
}

func reasonText(res *engine.Result) string {
	r := res.StopReason
	text := string(r.Code)
	if r.Message != "" {
		text += ": " + r.Message
	}
	if r.Path != "" {
		text += " (" + r.Path + ")"
	}
	for _, q := range res.Interrupts {
		text += "\n  " + q.Path + ": " + string(q.Kind) + " " + q.Tool + " " + string(q.Args) + " " + q.Question
	}
	return text
}

// interruptible gives a context that the first Ctrl-C or SIGTERM ends, so that
// the run suspends; the second ends the process at once.
func interruptible(parent context.Context, w interface{ Write([]byte) (int, error) }) (context.Context, func()) {
	return onSignal(parent, func() {
		fmt.Fprintln(w, "suspending: what is under way may end; once more to stop at once")
	})
}
