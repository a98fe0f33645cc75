package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// Invocation is one call of a tool for a step.
type Invocation struct {
	Tool    string
	Args    json.RawMessage // as the model wrote them: "" is {}
	StepID  string
	Step    StepRecord // what the step did so far, for guards
	Refuse  string     // why the call is not to be made, for the model; "" = it is
	Context string     // see Call.Context
}

// Tool calls a tool. Whatever goes wrong with the tool is in the record: an
// unknown name, bad arguments, a denial and a timeout are data that the model
// sees. An error is the run's own: a stop, a cut, a question left open.
// wrote says that the call may have changed the world.
func (s *Scope) Tool(name string, u Invocation) (rec ToolRecord, wrote bool, err error) {
	if err := s.halted(); err != nil {
		return ToolRecord{}, false, err
	}
	rec = ToolRecord{Tool: u.Tool, Args: u.Args}
	if len(rec.Args) == 0 {
		rec.Args = json.RawMessage("{}")
	}
	if err := s.countIn(); err != nil {
		return rec, false, err
	}
	defer s.r.calling(-1)
	t, ok := s.r.tools[u.Tool]
	if !ok || u.Refuse != "" {
		rec.Args = valid(rec.Args)
		rec.fail(CallError, cmp.Or(u.Refuse, s.r.unknownTool(u.Tool)))
		s.called(name, u, rec)
		return rec, false, nil
	}
	args, err := t.arguments(s, rec.Args)
	if err != nil {
		rec.Args = valid(rec.Args)
		rec.fail(CallError, err.Error())
		s.called(name, u, rec)
		return rec, false, nil
	}
	rec.Args = args
	allowed, err := s.allowed(name, t, u, &rec)
	if err != nil || !allowed {
		if err == nil {
			s.called(name, u, rec)
		}
		return rec, false, err
	}
	wrote = t.effect() == WriteEffect
	if err := s.perform(name, t, u, &rec); err != nil {
		return rec, wrote, err
	}
	s.called(name, u, rec)
	if len(s.r.program.Guards) > 0 {
		_, err = s.guarded(name).Guards(AfterTool, s.toolEnv(t, u, &rec))
	}
	return rec, wrote, err
}

// guarded is the scope that the guards of a call ask in: calls of one turn ask
// questions of their own.
func (s *Scope) guarded(name string) *Scope {
	if len(s.r.program.Guards) == 0 {
		return s
	}
	return s.Child(name)
}

// countIn makes room for one more call under max_tool_calls, of this run and of
// those it is nested in. Where there is none the calls under way may end, and
// then the run that has the limit does.
func (s *Scope) countIn() error {
	for r := s.r; r != nil; r = r.parent {
		if !r.callable() {
			if err := s.awaitCallable(r); err != nil {
				return err
			}
		}
	}
	s.r.calling(1)
	return nil
}

func (r *run) callable() bool {
	limit := r.program.Limits.MaxToolCalls
	return limit <= 0 || r.state.Usage.ToolCalls+r.underway < limit
}

func (s *Scope) awaitCallable(r *run) error {
	err := s.Await(func() bool { return r.underway == 0 || r.stopping != nil || r.callable() })
	if err != nil || r.stopping == nil && r.callable() {
		return err
	}
	return r.halt(&StopError{StopReason{
		Code: StopMaxToolCalls, Path: "limits.max_tool_calls", Status: Stopped,
		Message: fmt.Sprintf("%d tool calls were made", r.state.Usage.ToolCalls),
	}})
}

// write notes that the run, and those around it, may have changed the world.
func (r *run) write() {
	for ; r != nil; r = r.parent {
		r.wrote = true
	}
}

// calling notes calls under way, here and in the runs around this one.
func (r *run) calling(n int) {
	for ; r != nil; r = r.parent {
		r.underway += n
	}
}

// called counts a finished call and tells of it.
func (s *Scope) called(name string, u Invocation, rec ToolRecord) {
	s.Record(ToolCalled{rec})
	if s.r.emit.on() {
		s.event(Event{
			Type: ToolCompleted, Path: name, Tool: rec.Tool, Args: rec.Args, Status: string(rec.Status),
			Text: rec.Text(), Duration: rec.DurationMS, Step: &StepEvent{ID: u.StepID, Status: StepRunning},
		})
	}
}

// allowed tries the guards before a tool and the tool's approval.
func (s *Scope) allowed(name string, t *HostTool, u Invocation, rec *ToolRecord) (bool, error) {
	if len(s.r.program.Guards) == 0 && !t.mayAsk() {
		return true, nil
	}
	env := s.toolEnv(t, u, rec)
	v, err := s.guarded(name).Guards(BeforeTool, env)
	if err != nil {
		return false, err
	}
	if v.Deny {
		rec.fail(CallDenied, "not allowed: "+v.Message)
		return false, nil
	}
	ask, err := t.asks(env)
	if err != nil || !ask {
		return err == nil, err
	}
	s.event(Event{Type: ToolInterrupted, Path: name, Tool: rec.Tool, Args: rec.Args})
	d, err := s.Ask(name+".approval", Question{
		Kind: AskApproval, Tool: rec.Tool, Args: rec.Args,
		Question: fmt.Sprintf("May step %s call %s?", u.StepID, rec.Tool),
	})
	if err != nil {
		return false, err
	}
	if !d.Approved() {
		rec.fail(CallDenied, strings.TrimSuffix("a person denied the call: "+d.Reason, ": "))
		return false, nil
	}
	if d.Do == "edit" {
		if rec.Args, err = t.arguments(s, d.Edit); err != nil {
			rec.fail(CallError, err.Error())
			return false, nil
		}
	}
	return true, nil
}

// mayAsk says whether any call of the tool may need an approval.
func (t *HostTool) mayAsk() bool {
	return t.Spec != nil && t.Spec.Approval.Source != "" && t.Spec.Approval.Source != "never"
}

// asks says whether a person must approve this call.
func (t *HostTool) asks(env func(string) map[string]any) (bool, error) {
	if !t.mayAsk() || t.Spec.Approval.Source == "always" {
		return t.mayAsk(), nil
	}
	return t.Spec.Approval.Eval(env(t.Spec.Approval.Source))
}

func (s *Scope) toolEnv(t *HostTool, u Invocation, rec *ToolRecord) func(string) map[string]any {
	return func(source string) map[string]any {
		v := s.View()
		env := v.StepEnv(source, u.Step)
		var args map[string]any
		_ = json.Unmarshal(rec.Args, &args) // they were checked: an object
		e := ToolEnv{Name: rec.Tool, Effect: string(t.effect()), Args: args, Result: rec.Result, Attempts: 1}
		if rec.Status != CallOK && rec.Status != "" {
			e.Error = rec.Text()
		}
		env["tool"] = e
		return env
	}
}

// perform runs the tool as an effect.
func (s *Scope) perform(name string, t *HostTool, u Invocation, rec *ToolRecord) error {
	class := journal.Write
	switch t.effect() {
	case ReadEffect:
		class = journal.Read
	case IdempotentEffect:
		class = journal.Idempotent
	default: // unknown is taken for a write
	}
	path := joinPath(s.Path(), name)
	if s.r.emit.on() {
		s.event(Event{Type: ToolStarted, Path: name, Tool: rec.Tool, Args: rec.Args, Step: &StepEvent{ID: u.StepID, Status: StepRunning}})
	}
	call := Call{
		Args: rec.Args, RunID: s.r.input.RunID, Path: path, Context: u.Context,
		Lookup: s.r.lookup(rec.Args), Progress: s.progress(name, rec.Tool),
	}
	e := kernel.Effect[*ToolOutput]{Name: name, Class: class}
	if s.r.journaled() {
		body := toolRequest(rec.Tool, rec.Args)
		e.Digest, e.Request = digest(body), func() []byte { return body }
	}
	e.Perform = func(ctx context.Context, key string) (*ToolOutput, error) {
		c := call
		c.Key = key
		return t.attempts(ctx, &c)
	}
	if class == journal.Write {
		s.r.write()
	}
	began := s.Now()
	out, err := kernel.Do(s.k, e)
	rec.DurationMS = milliseconds(s.Now() - began)
	var f *journal.Failure
	switch {
	case err == nil:
		rec.Status, rec.Result, rec.text = CallOK, out.value(), out.text()
	case errors.As(err, &f):
		rec.fail(CallError, f.Message)
		if f.Code == "timeout" {
			rec.Status = CallTimedOut
		}
	default:
		return err
	}
	return nil
}

// attempts calls a tool as often as its retry policy says; a write only once.
func (t *HostTool) attempts(ctx context.Context, c *Call) (*ToolOutput, error) {
	n := 1
	if t.Spec != nil && t.effect() != WriteEffect {
		n = max(n, t.Spec.Retry.MaxAttempts)
	}
	for i := 1; ; i++ {
		out, err := t.once(ctx, c)
		if err == nil {
			return out, nil
		}
		if i >= n || ctx.Err() != nil {
			return nil, err
		}
		pause := time.NewTimer(t.Spec.Retry.backoff(i + 1))
		select {
		case <-ctx.Done():
			pause.Stop()
			return nil, err
		case <-pause.C:
		}
	}
}

func (t *HostTool) once(ctx context.Context, c *Call) (*ToolOutput, error) {
	timeout := DefaultToolTimeout
	if t.Spec != nil && t.Spec.Timeout > 0 {
		timeout = t.Spec.Timeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := t.Tool.Call(ctx, c)
	if err != nil && ctx.Err() == context.DeadlineExceeded {
		return nil, &journal.Failure{Code: "timeout", Message: fmt.Sprintf("the tool took longer than %s: %v", timeout, err)}
	}
	if err != nil {
		return nil, &journal.Failure{Code: "error", Message: clip(err.Error(), t.maxOutput())}
	}
	return t.bounded(out)
}

// bounded applies the output filter and cuts what is too long, head and tail kept.
func (t *HostTool) bounded(out *ToolOutput) (*ToolOutput, error) {
	if t.Spec != nil && !t.Spec.OutputFilter.IsZero() {
		var v any
		if err := json.Unmarshal(out.json(), &v); err != nil {
			return nil, &journal.Failure{Code: "error", Message: "output_filter wants JSON, the tool gave text: " + clip(out.Text, 200)}
		}
		found, err := t.Spec.OutputFilter.Apply(v)
		if err != nil {
			return nil, &journal.Failure{Code: "error", Message: "output_filter: " + err.Error()}
		}
		v = found
		if len(found) == 1 {
			v = found[0]
		}
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out = &ToolOutput{Data: data}
	}
	if max := t.maxOutput(); len(out.Text)+len(out.Data) > max {
		return &ToolOutput{Text: clip(out.text(), max)}, nil
	}
	if !utf8.ValidString(out.Text) {
		out = &ToolOutput{Text: strings.ToValidUTF8(out.Text, "\uFFFD"), Data: out.Data}
	}
	return out, nil
}

// clip keeps head and tail of a text that is longer than max bytes.
func clip(s string, max int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= max {
		return s
	}
	head := strings.ToValidUTF8(s[:max*2/3], "")
	tail := strings.ToValidUTF8(s[len(s)-max/3:], "")
	return fmt.Sprintf("%s\n[... %d of %d bytes left out ...]\n%s", head, len(s)-len(head)-len(tail), len(s), tail)
}

func (s *Scope) progress(path, tool string) func(string) {
	r := s.r
	if !r.emit.on() {
		return func(string) {}
	}
	path = joinPath(s.Path(), path)
	return func(m string) {
		r.emit.transient(Event{Type: ToolProgress, Path: path, Tool: tool, Text: m})
	}
}
