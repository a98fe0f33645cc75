package runcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/failure"
)

// runOnServer starts an agent of the server and watches the run.
func (f *runFlags) runOnServer(c *ui.Call, s *serverRuns) error {
	agent := c.Arg(0)
	if agent == "" {
		return failure.WithHintf(failure.Usagef("no agent given"), "with --server, SPEC is the name of an agent of the server")
	}
	if err := project.CheckQuestion(c); err != nil {
		return err
	}
	schema, err := s.Schema(c.Context, agent)
	if apiclient.IsCode(err, apiclient.NotFound) {
		return s.noAgent(agent, err)
	}
	if err != nil {
		return s.Fail(err)
	}
	in, err := f.input(c, programOf(schema), nil)
	if err != nil {
		return err
	}
	files, err := s.upload(in.Files)
	if err != nil {
		return err
	}
	request := apiclient.NewRun{
		Files: files, Labels: in.Labels,
		Parameters: in.Parameters, MemoryID: in.MemoryID, ExecutorMemoryID: in.ExecutorMemoryID,
		Earlier: messagesOf(in.Earlier), Set: c.Set, RunID: in.RunID,
	}
	caller := tracecontext.Caller{Parent: in.Trace, State: in.TraceState}
	if err := s.Start(tracecontext.With(c.Context, caller), agent, request); err != nil {
		return s.Fail(err)
	}
	if f.detach {
		return s.printDetached(in, f.outputFlags)
	}
	return s.execute(in.RunID, f.sessionFlags, engine.Event{})
}

// upload uploads files for a run. Their names are their paths; those outside of the working
// directory have only their base names.
func (s *serverRuns) upload(paths []string) (out []apiclient.File, err error) {
	of := map[string]string{} // paths by name
	for _, path := range paths {
		name := filepath.ToSlash(filepath.Clean(path))
		if !filepath.IsLocal(path) {
			name = filepath.Base(path)
		}
		if other, taken := of[name]; taken {
			return nil, failure.Usagef("--file: %s and %s would both be named %s on the server; rename one", other, path, name)
		}
		of[name] = path
		id, err := s.Upload(s.c.Context, func() (io.ReadCloser, error) { return os.Open(path) })
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return nil, failure.Usagef("--file: %w", err)
		}
		if e, ok := errors.AsType[*apiclient.Error](err); ok && e.Status == http.StatusRequestEntityTooLarge {
			return nil, failure.WithHintf(failure.Usagef("--file %s: %w", path, e), "limits.upload of the server file is the maximum")
		}
		if err != nil {
			return nil, s.Fail(err)
		}
		out = append(out, apiclient.File{Name: name, Artifact: id})
	}
	return out, nil
}

// noAgent returns the error for an agent that does not exist.
func (s *serverRuns) noAgent(agent string, err error) error {
	names, lerr := s.Agents(s.c.Context)
	switch near := ui.Nearest(agent, names); {
	case lerr != nil || len(names) == 0:
		return failure.NotFoundf("", "%w", err)
	case near != "":
		return failure.NotFoundf("", "no agent %q; did you mean %s?", agent, near)
	default:
		return failure.NotFoundf("the server has "+ui.List(names), "no agent %q", agent)
	}
}

// programOf returns a program with the parameters of an agent, for parsing flags.
func programOf(schema apiclient.Schema) *engine.Program {
	p := &engine.Program{}
	for name, declared := range schema.Properties {
		p.Parameters = append(p.Parameters, engine.Parameter{Name: name, Schema: declared, Required: slices.Contains(schema.Required, name)})
	}
	return p
}

// messagesOf returns the messages of earlier interactions.
func messagesOf(earlier []memory.Interaction) (out []apiclient.Message) {
	for _, i := range earlier {
		if i.Question != "" {
			out = append(out, apiclient.Message{Role: "user", Content: i.Question})
		}
		out = append(out, apiclient.Message{Role: "assistant", Content: i.Answer})
	}
	return out
}

func (s *serverRuns) printDetached(in engine.Input, f outputFlags) error {
	if f.json {
		return ui.PrintJSON(s.c, struct {
			Run    string `json:"run_id"`
			Memory string `json:"memory_id"`
		}{in.RunID, runtime.ConversationID(in)})
	}
	if _, err := fmt.Fprintln(s.c.Stdout, in.RunID); err != nil || f.quiet {
		return err
	}
	fmt.Fprintf(s.c.Stderr, "Running on %s\nFollow: %s --follow\nCancel: %s\n", s.URL(), s.command(in.RunID, "runs", "show"), s.command(in.RunID, "runs", "cancel"))
	return nil
}

// execute watches a run to its end, asks its questions at the terminal, and prints how the
// run ended. Ctrl-C ends the command, not the run.
func (s *serverRuns) execute(run string, f sessionFlags, earlier engine.Event) error {
	res, raw, err := s.watch(run, f, true, earlier)
	if err != nil {
		return err
	}
	return s.showResult(res, raw, f.outputFlags)
}

// showResult prints a result and the next steps, and returns the run's exit code.
func (s *serverRuns) showResult(res *engine.Result, raw json.RawMessage, f outputFlags) error {
	if f.json {
		if err := ui.PrintJSON(s.c, raw); err != nil {
			return failure.Infra(err)
		}
		if !f.quiet {
			printReason(s.c, res, "")
		}
	} else {
		printAnswer(s.c, res, "", f)
	}
	if !f.quiet && res.Status != stop.RunInterrupted {
		s.printStored(res.RunID)
	}
	if !f.quiet || !f.json {
		for _, line := range resumeHint(s.c, "", res) {
			fmt.Fprintln(s.c.Stderr, line)
		}
	}
	return ui.RunExit(res)
}

// resume continues a run of the server, with answers or higher limits.
func (s *serverRuns) resume(answers []runs.Answer, keepSpec bool, f sessionFlags) error {
	run, err := s.runArg()
	if err != nil {
		return err
	}
	if len(answers) > 0 && len(s.c.Set) > 0 {
		return failure.Usagef("with --server, --answer and --set are separate steps; answer first")
	}
	res, raw, err := s.Result(s.c.Context, run, f.conversation)
	var earlier engine.Event
	if err == nil && !apiclient.IsLive(res.Status) {
		earlier, err = s.lastEvent(run)
	}
	if err != nil {
		return s.Fail(err)
	}
	switch {
	case len(answers) > 0:
		err = s.answer(res, answers)
	case apiclient.IsLive(res.Status) || len(res.Interrupts) > 0: // its questions are asked below
	default:
		err = s.Resume(s.c.Context, run, s.c.Set, keepSpec)
	}
	switch {
	case apiclient.IsCode(err, apiclient.Ended) && len(answers) == 0:
		if !f.quiet {
			fmt.Fprintf(s.c.Stderr, "Run %s has already ended; its result:\n", run)
		}
		return s.showResult(res, raw, f.outputFlags)
	case apiclient.IsCode(err, apiclient.SpecChanged):
		return s.specChanged(err)
	case err != nil && !apiclient.IsCode(err, apiclient.Running): // another client has just resumed it
		return s.Fail(err)
	}
	return s.execute(run, f, earlier)
}

// specChanged shows how the spec of a run has changed.
func (s *serverRuns) specChanged(err error) error {
	if e, ok := errors.AsType[*apiclient.Error](err); ok && e.Diff != "" {
		fmt.Fprint(s.c.Stderr, ui.Safe(s.c.Stderr, e.Diff))
	}
	return failure.WithHintf(failure.Usagef("the spec has changed since the run started"), "to resume with the original spec, add --keep-spec")
}

// answer sends the answers of flags.
func (s *serverRuns) answer(res *engine.Result, answers []runs.Answer) error {
	if !apiclient.IsLive(res.Status) && res.Status != stop.RunInterrupted {
		return failure.Usagef("run %q is not waiting for an answer: it has ended (%s)", res.RunID, res.StopReason.Code)
	}
	assigned, err := runs.AssignPaths(res.RunID, res.Interrupts, answers)
	if wrong, ok := errors.AsType[*runs.AnswerError](err); ok {
		return failure.Usagef("--answer %w%s", wrong, whichQuestion(s.c, res.RunID, wrong))
	}
	for _, a := range assigned {
		i := slices.IndexFunc(res.Interrupts, func(q interrupt.Question) bool { return q.Path == a.Path })
		kind := interrupt.Approval // the server says what is wrong with the path
		if i >= 0 {
			kind = res.Interrupts[i].Kind
		}
		body, wrong := apiclient.TypedAnswer(kind, a.Path, a.Value)
		if wrong != "" {
			return failure.Usagef("--answer %s: %s", a.Path, wrong)
		}
		if err := s.Answer(s.c.Context, res.RunID, body); err != nil {
			return err
		}
	}
	return nil
}
