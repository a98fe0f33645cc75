package runcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/providers/badger"
	"github.com/pexctl/pex/providers/cassette"
)

// Conversation is a value of --include.
const Conversation = "conversation"

// outputFlags are the flags that control how a command shows a run.
type outputFlags struct {
	json, quiet, conversation bool
	events                    string // file for events; ui.FromStdin for stdout; "" for none
}

// sessionFlags are the flags of every command that executes a run.
type sessionFlags struct {
	outputFlags
	record  string // file of the cassette to write; "" if none
	stream  bool
	resumed bool // an earlier session started the run: events are appended
}

func newSessionFlags() []cli.Flag {
	return append(newRecordFlags(),
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: ui.GroupOutput, Usage: "Print no progress, and do not ask for approvals or answers: a run that needs one exits with code 5"},
		ui.OutputFlag(), project.HomeFlag(),
	)
}

// newRecordFlags returns the session flags that run lists elsewhere in its help.
func newRecordFlags() []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "record", Category: ui.GroupReplay, Usage: "Record the run to the cassette `FILE`, with secrets redacted"},
		&cli.BoolFlag{Name: "no-stream", Category: ui.GroupRunning, Usage: "Request whole replies from models instead of streams"},
		&cli.StringFlag{Name: "events", Category: ui.GroupOutput, Usage: "Write every event as a JSON line to `FILE` (- for stdout)"},
		&cli.StringFlag{Name: "include", Category: ui.GroupOutput, Usage: "Add `PART` to the JSON result: \"conversation\" (the prompt and reply of every model call)"},
	}, ui.LiveFlags()...)
}

func readOutputFlags(c *ui.Call) outputFlags {
	return outputFlags{quiet: c.Quiet, events: c.String("events"), json: c.JSON}
}

func readSessionFlags(c *ui.Call) (f sessionFlags, err error) {
	f.record, f.stream = c.String("record"), !c.Bool("no-stream")
	f.outputFlags = readOutputFlags(c)
	if part := c.String("include"); c.IsSet("include") && part != Conversation {
		return f, failure.Usagef("invalid value %q for --include; use %s", part, Conversation)
	}
	f.conversation = c.IsSet("include")
	return f, nil
}

// execute runs a session to its end, closes everything, and prints how the run
// ended and the hints for the next step; hints may be nil.
func execute(c *ui.Call, s *runs.Service, session *runs.Session, f sessionFlags, hints func(*engine.Result) []string) error {
	c.Trace.Mask(session.Host.Secrets)
	p, err := newProgress(c, f.outputFlags, f.resumed)
	if err != nil {
		return errors.Join(err, session.Close())
	}
	ctx, end := ui.OnSignal(c.Context, func() {
		p.note("Suspending after the calls in flight (Ctrl-C again to stop now). Resume with: pexctl resume " + session.Input.RunID + project.HomeArgument(c, s.Dir()))
	})
	defer end()
	if m, ok := session.Host.Memory.(*badger.Store); ok && !f.quiet {
		m.ReportWaits(func(w badger.Wait) { p.note(project.WaitNote(w)) })
	}
	res := session.Run(ctx, runs.Observer{Sinks: p.sinks, Responder: p.person, Stream: f.stream, Conversation: f.conversation, Warn: p.note})
	lost := errors.Join(p.close(), session.Close())
	err = showResult(c, s.Dir(), session.Input, res, modelHint(session, res), f.outputFlags)
	if !f.quiet && !f.json && hints != nil {
		ui.PrintHints(c.Stderr, hints(res))
	}
	switch {
	case lost != nil && err == nil:
		err = failure.Infra(lost)
	case lost != nil: // the end of the run matters more
		fmt.Fprintln(c.Stderr, "pexctl:", lost)
	}
	if code := ui.SignalCode(context.Cause(ctx)); res.StopReason.Code == stop.Suspended && code != ui.ExitInterrupted {
		err = ui.Exit(code, nil)
	}
	return err
}

// recordTo makes a session also write a cassette.
func recordTo(components *catalog.Catalog, session *runs.Session, file string) error {
	if file == "" {
		return nil
	}
	err := session.Tee(func(j journal.Journal) (runs.TeeJournal, error) {
		return cassette.New(j, file, host.Secrets(components, session.Program, session.Host.Env))
	})
	if err != nil {
		return failure.Usagef("--record: %w", err)
	}
	return nil
}

// showResult prints a result and the next steps, and returns the run's exit code.
// hint explains how to fix a failure; "" if unknown.
func showResult(c *ui.Call, home string, in engine.Input, res *engine.Result, hint string, f outputFlags) error {
	err := printResult(c, res, hint, f)
	if miss, ok := errors.AsType[*replay.Mismatch](res.ReplayMismatch); ok {
		explainMismatch(c, in, miss)
	}
	if !f.quiet {
		printStored(c, home, res)
	}
	if !f.quiet || !f.json {
		for _, line := range resumeHint(c, home, res) {
			fmt.Fprintln(c.Stderr, line)
		}
	}
	return err
}

// printResult prints a result and returns the run's exit code.
func printResult(c *ui.Call, res *engine.Result, hint string, f outputFlags) error {
	if f.json {
		if err := ui.PrintJSON(c, res); err != nil {
			return failure.Infra(err)
		}
		if !f.quiet {
			printReason(c, res, hint)
		}
	} else {
		printAnswer(c, res, hint, f)
	}
	return ui.RunExit(res)
}

// printAnswer writes only the answer to stdout. If the run did not complete, the
// reason goes to stderr.
//
// With --events - stdout contains the events: the answer goes to stderr, or
// nowhere with --quiet, because the last event contains it.
func printAnswer(c *ui.Call, res *engine.Result, hint string, f outputFlags) {
	out, events := ui.Verbatim(c.Stdout), f.events == ui.FromStdin
	if events {
		out = c.Stderr
	}
	if res.Response != "" && (!events || !f.quiet) {
		text := res.Response
		var indented bytes.Buffer
		if len(res.Output) > 0 && json.Indent(&indented, res.Output, "", "  ") == nil {
			text = indented.String()
		}
		fmt.Fprintln(out, strings.TrimRight(text, "\n"))
	}
	printReason(c, res, hint)
}

// printReason writes to stderr why a run did not complete, and the hint, if any.
func printReason(c *ui.Call, res *engine.Result, hint string) {
	if res.Status == stop.RunCompleted {
		return
	}
	text := ui.EndReason(res)
	if code := res.StopReason.Code; code != stop.Interrupted && code != stop.Suspended { // they have their own messages
		text = string(res.Status) + ": " + text
	}
	fmt.Fprintln(c.Stderr, tty.Safe(text))
	if hint != "" {
		fmt.Fprintln(c.Stderr, "  hint:", hint)
	}
}

// printStored prints where a run that has ended is stored.
func printStored(c *ui.Call, home string, res *engine.Result) {
	if res.Status != stop.RunInterrupted && !res.Resumable {
		fmt.Fprintf(c.Stderr, "Stored in %s. Details: pexctl runs show %s%s\n", fspath.Relative(home), res.RunID, project.HomeArgument(c, home))
	}
}
