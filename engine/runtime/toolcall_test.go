package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// recordingTool is a tool that records its arguments.
type recordingTool struct {
	fails int // number of calls that fail first
	calls []string
	seen  any // value of args.n by Call.Lookup
}

func (g *recordingTool) Info() tool.Info {
	return tool.Info{Name: "gadget", Effect: tool.ReadEffect}
}

func (g *recordingTool) Call(_ context.Context, c *tool.Call) (*tool.Output, error) {
	g.calls = append(g.calls, string(c.Args))
	g.seen, _ = c.Lookup("args", "n")
	if len(g.calls) <= g.fails {
		return nil, errors.New("not now")
	}
	return &tool.Output{Text: "done"}, nil
}

// answers is a Responder with a list of answers.
type answers struct {
	typed []string
	asked []interrupt.Question
}

func (p *answers) Ask(_ context.Context, q interrupt.Question) (json.RawMessage, error) {
	if len(p.asked) == len(p.typed) {
		return nil, errors.New("nobody is there")
	}
	p.asked = append(p.asked, q)
	return json.Marshal(interrupt.Parse(p.typed[len(p.asked)-1]))
}

func (p *answers) paths() (out []string) {
	for _, q := range p.asked {
		out = append(out, q.Path)
	}
	return out
}

// when returns a condition on the tool.
func when(holds func(exprenv.Tool) bool) component.GuardRef {
	g := component.GuardRef{Source: "tool"}
	g.Bind(func(env map[string]any) (bool, error) { return holds(env["tool"].(exprenv.Tool)), nil })
	return g
}

func above(n int) component.GuardRef {
	return when(func(t exprenv.Tool) bool {
		got, err := t.Args["n"].(json.Number).Int64()
		return err != nil || got > int64(n)
	})
}

// fitBelow100 accepts arguments with an n below 100.
func fitBelow100(args json.RawMessage) (json.RawMessage, []tool.ArgsRepair, error) {
	var a struct{ N int }
	if err := json.Unmarshal(args, &a); err != nil || a.N >= 100 {
		return nil, nil, fmt.Errorf("n: %d is not below 100", a.N)
	}
	return args, nil, nil
}

// singleCallProgram returns a program of one node that calls the tool once.
func singleCallProgram(g *recordingTool, args string, rec *tool.Record, guards ...engine.Guard) (*engine.Program, engine.Host) {
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) (err error) {
		*rec, _, err = s.Tool("tool.0", engine.Invocation{Tool: "gadget", Args: json.RawMessage(args), StepID: "s1"})
		return err
	}})
	p.Guards = guards
	spec := &tool.Spec{
		Name: "gadget", Approval: component.GuardRef{Source: "always"},
		Retry: retry.Policy{MaxAttempts: 3, InitialDelay: time.Nanosecond},
	}
	return p, engine.Host{Tools: []tool.Binding{{Spec: spec, Tool: g, Fit: fitBelow100}}}
}

func TestApprovalDecidesTheCall(t *testing.T) {
	deny := engine.Guard{Name: "deny", At: engine.BeforeTool, When: above(10), Do: engine.GuardDeny, Message: "too much"}
	look := engine.Guard{Name: "look", At: engine.BeforeTool, When: above(5), Do: engine.GuardInterrupt}
	cases := []struct {
		name   string
		guards []engine.Guard
		args   string
		typed  []string
		asked  []string // paths
		called []string // arguments
		status tool.CallStatus
		text   string
	}{
		{
			name: "approved as it is", args: `{"n":1}`, typed: []string{"approve"},
			asked: []string{"tool.0.approval"}, called: []string{`{"n":1}`}, status: tool.CallOK, text: "done",
		},
		{
			name: "approved as edited", args: `{"n":1}`, typed: []string{`edit:{"n":2}`},
			asked: []string{"tool.0.approval"}, called: []string{`{"n":2}`}, status: tool.CallOK, text: "done",
		},
		{
			name: "denied", args: `{"n":1}`, typed: []string{"deny: no"},
			asked: []string{"tool.0.approval"}, status: tool.CallDenied, text: "a reviewer denied the call: no",
		},
		{
			name: "any other text denies, and is why", args: `{"n":1}`, typed: []string{"ask Ada first"},
			asked: []string{"tool.0.approval"}, status: tool.CallDenied, text: "a reviewer denied the call: ask Ada first",
		},
		{
			name: "an edit does not pass a guard that denies", guards: []engine.Guard{deny}, args: `{"n":1}`, typed: []string{`edit:{"n":11}`},
			asked: []string{"tool.0.approval"}, status: tool.CallDenied, text: "not allowed: too much",
		},
		{
			name: "a guard asks about the edit too", guards: []engine.Guard{look}, args: `{"n":6}`, typed: []string{"approve", `edit:{"n":7}`, "approve"},
			asked:  []string{"tool.0/guard.look", "tool.0.approval", "tool.0.edited/guard.look"},
			called: []string{`{"n":7}`}, status: tool.CallOK, text: "done",
		},
		{
			name: "an edit that does not fit is asked for again", args: `{"n":1}`, typed: []string{`edit:{"n":100}`, `edit:7`, `edit:{"n":3}`},
			asked:  []string{"tool.0.approval", "tool.0.approval.2", "tool.0.approval.3"},
			called: []string{`{"n":3}`}, status: tool.CallOK, text: "done",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var rec tool.Record
			g, who := &recordingTool{}, &answers{typed: c.typed}
			p, h := singleCallProgram(g, c.args, &rec, c.guards...)
			h.Responder = who
			if res := runs(p, h); res.Status != stop.RunCompleted {
				t.Fatalf("%s: %s", res.Status, res.StopReason)
			}
			got := []any{who.paths(), g.calls, rec.Status, rec.Text()}
			if d := cmp.Diff([]any{c.asked, c.called, c.status, c.text}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestInvalidEditIsReported(t *testing.T) {
	var rec tool.Record
	who := &answers{typed: []string{`edit:{"n":100}`, "approve"}}
	p, h := singleCallProgram(&recordingTool{}, `{"n":1}`, &rec)
	h.Responder = who
	runs(p, h)
	want := "May step s1 call gadget? The edit cannot be used: the arguments of gadget do not match its schema:\nn: 100 is not below 100"
	if q := who.asked[1]; q.Question != want || string(q.Args) != `{"n":1}` {
		t.Errorf("%s %s", q.Question, q.Args)
	}
	if string(rec.Args) != `{"n":1}` {
		t.Errorf("called with %s", rec.Args)
	}
}

func TestAttemptsAreTheSameOnReplay(t *testing.T) {
	for fails, want := range []int{1, 2, 3, 3} {
		t.Run(fmt.Sprintf("%d fail", fails), func(t *testing.T) {
			var rec tool.Record
			var seen []int
			note := engine.Guard{Name: "note", At: engine.AfterTool, Do: engine.GuardFail, When: when(func(e exprenv.Tool) bool {
				seen = append(seen, e.Attempts)
				return false
			})}
			g, j := &recordingTool{fails: fails}, &journal.Memory{RoundTrip: true}
			p, h := singleCallProgram(g, `{"n":1}`, &rec, note)
			h.Responder = &answers{typed: []string{"approve"}}
			in := engine.Input{RunID: "r", Parameters: map[string]any{}}
			for range 2 {
				execute(t.Context(), p, in, h, runtime.Options{Journal: j, Virtual: true})
			}
			if d := cmp.Diff([]int{want, want}, seen); d != "" || len(g.calls) != want {
				t.Errorf("%d calls made, %s", len(g.calls), d)
			}
		})
	}
}

func TestArgumentsKeepTheirDigits(t *testing.T) {
	var rec tool.Record
	g := &recordingTool{}
	p, h := singleCallProgram(g, `{"n":12345678901234567891}`, &rec)
	h.Responder = &answers{typed: []string{"approve"}}
	h.Tools[0].Fit = nil
	runs(p, h)
	if g.seen != json.Number("12345678901234567891") {
		t.Errorf("%v (%T)", g.seen, g.seen)
	}
}

// A tool that does not return is abandoned after its timeout or the default.
func TestCallEndsAtTheToolTimeout(t *testing.T) {
	hangs := funcTool{tool.ReadEffect, func(ctx context.Context, _ *tool.Call) (*tool.Output, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	for set, want := range map[time.Duration]time.Duration{0: tool.DefaultTimeout, time.Second: time.Second, time.Hour: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var recs []tool.Record
			one := named("x", hangs)
			one.Spec.Timeout = set
			began := time.Now()
			session(t, program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)}), engine.Host{Tools: []tool.Binding{one}}, &journal.Memory{}, runtime.Options{})
			if took := time.Since(began); took != want || recs[0].Status != tool.CallTimedOut || recs[0].DurationMS != want.Milliseconds() {
				t.Errorf("timeout %s: %s after %s, recorded as %d ms", set, recs[0].Status, took, recs[0].DurationMS)
			}
		})
	}
}

// A retry policy applies to tools that read or are idempotent. A write is attempted once,
// even if its failure is definite.
func TestWriteIsAttemptedOnce(t *testing.T) {
	for effect, want := range map[tool.Effect]int{tool.ReadEffect: 3, tool.IdempotentEffect: 3, tool.WriteEffect: 1, "": 1} {
		calls := 0
		one := named("x", funcTool{effect, func(context.Context, *tool.Call) (*tool.Output, error) {
			calls++
			return nil, errors.New("no such account")
		}})
		one.Spec.Retry = retry.Policy{MaxAttempts: 3, InitialDelay: time.Nanosecond}
		var recs []tool.Record
		session(t, program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)}), engine.Host{Tools: []tool.Binding{one}}, &journal.Memory{}, runtime.Options{})
		if calls != want || recs[0].Status != tool.CallError {
			t.Errorf("effect %q: %d attempts, %s: %s", effect, calls, recs[0].Status, recs[0].Text())
		}
	}
}
