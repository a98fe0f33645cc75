package runcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// list returns the runs of the server that match a filter. more is 1 if there are further
// ones: the server does not count them.
func (s *serverRuns) list(f runs.Filter) (found []runs.Summary, more int, err error) {
	const perPage = 200
	found = []runs.Summary{}
	for cursor := ""; ; {
		page, err := s.List(s.c.Context, apiclient.Filter{Status: f.Status, Labels: f.Labels}, perPage, cursor)
		if err != nil {
			return nil, 0, s.Fail(err)
		}
		for _, sum := range page.Runs {
			switch {
			case f.Spec != "" && sum.Spec.Name != f.Spec:
			case f.Limit > 0 && len(found) == f.Limit:
				return found, 1, nil
			default:
				found = append(found, sum)
			}
		}
		if cursor = page.Next; cursor == "" {
			return found, 0, nil
		}
	}
}

// showOnServer prints the state of a run of a server, or follows it.
func (f *showFlags) showOnServer(s *serverRuns) error {
	run, err := s.runArg()
	if err != nil {
		return err
	}
	switch {
	case f.follow:
		res, raw, err := s.watch(run, sessionFlags{outputFlags: f.outputFlags}, false, engine.Event{})
		if err != nil {
			return err
		}
		return s.showResult(res, raw, f.outputFlags)
	case f.events != "":
		return failure.Usagef("--events needs --follow: pexctl runs show %s --follow --events %s", run, fspath.Quote(f.events))
	case f.conversation && !f.json:
		return failure.Usagef("with --server, --conversation needs -o json")
	}
	res, raw, err := s.Result(s.c.Context, run, f.conversation)
	if err != nil {
		return s.Fail(err)
	}
	if f.json {
		return ui.PrintJSON(s.c, raw)
	}
	first, err := s.First(s.c.Context, run)
	if err != nil {
		return s.Fail(err)
	}
	resume := s.command(run, "resume")
	running := apiclient.IsLive(res.Status)
	report := sink.Report{
		Result: res, Question: first.Question, Now: time.Now(), Running: running,
		Columns: ui.Columns(s.c.Stdout), Color: ui.UsesColor(s.c.Stdout),
		HowTo: func(q interrupt.Question) (commands []string) {
			for _, answer := range answerOptions(q) {
				commands = append(commands, resume+" "+answerFlag(q, answer))
			}
			return commands
		},
	}
	fmt.Fprint(ui.Styled(s.c.Stdout), report.String())
	next := continueCommand(res, resume)
	if running {
		next = "Follow: " + s.command(run, "runs", "show") + " --follow"
	}
	if next != "" {
		fmt.Fprintf(s.c.Stdout, "\n%s\n", next)
	}
	return nil
}

// cancelRun cancels a run, and waits for its end.
func (s *serverRuns) cancelRun() error {
	run, err := s.runArg()
	if err != nil {
		return err
	}
	status, err := s.Cancel(s.c.Context, run)
	if err != nil {
		return s.Fail(err)
	}
	if status == "" {
		if err := s.AwaitEnd(s.c.Context, run); err != nil {
			return s.Fail(err)
		}
	}
	res, raw, err := s.Result(s.c.Context, run, false)
	switch {
	case err != nil:
		return s.Fail(err)
	case status != "":
		return failure.Usagef("%w", &runs.EndedError{Result: res})
	}
	if s.c.JSON {
		err = ui.PrintJSON(s.c, raw)
	} else {
		_, err = fmt.Fprintf(s.c.Stdout, "run %s: %s\n", run, res.Status)
	}
	if err == nil && res.Status != stop.RunCancelled {
		return ui.Exit(ui.ExitNegative, fmt.Errorf("run %s ended before it could be cancelled (%s)", run, res.StopReason.Code))
	}
	return err
}

// export writes a run to a cassette.
func (s *serverRuns) export(to string) error {
	run, err := s.runArg()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := s.Export(s.c.Context, run, &b); err != nil {
		if apiclient.IsCode(err, apiclient.NotExportable) {
			return ui.Exit(ui.ExitNegative, err)
		}
		return s.Fail(err)
	}
	if to == "" || to == "-" {
		return printCassette(s.c, &b)
	}
	records := bytes.Count(b.Bytes(), []byte("\n"))
	err = fspath.WriteFile(to, 0o600, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
	if err != nil {
		return failure.Usagef("--to: %w", err)
	}
	return printExported(s.c, exported{run, to, records}, s.c.JSON)
}

// remove deletes runs.
func (s *serverRuns) remove(force bool) error {
	var ids []string
	for _, word := range s.c.Args {
		run, err := s.find(word)
		if err != nil {
			return err
		}
		ids = append(ids, run)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if err := ui.Confirm(s.c, fmt.Sprintf("Permanently delete %s on %s", ui.List(ids), s.URL())); err != nil {
		return err
	}
	removed := make([]string, 0, len(ids))
	var err error
	for _, run := range ids {
		if err = s.Delete(s.c.Context, run, force); err != nil {
			break
		}
		removed = append(removed, run)
	}
	if apiclient.IsCode(err, apiclient.StillNeeded) {
		err = failure.Usagef("run %s is waiting or can be resumed; add --force to delete anyway", ids[len(removed)])
	}
	return errors.Join(s.Fail(err), printRemoved(s.c, removed))
}
