package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

var scopeModels = []scopeCase{
	{name: "calls of a model are counted by role, or by role and step", node: func(t *testing.T, s engine.Scope) {
		var texts []string
		for i, c := range []model.Call{{Role: "planner"}, {Role: "planner"}, {Role: "executor", StepID: "s1", PerStep: true}, {Role: "executor", StepID: "s2", PerStep: true}} {
			c.LLM = "main"
			reply, err := s.Model(fmt.Sprint("call.", i), c)
			if err != nil {
				t.Error(err)
				return
			}
			texts = append(texts, reply.Text)
		}
		want(t, "replies", texts, []string{"planner 1", "planner 2", "executor 1", "executor 1"})
		u := s.View().State.Usage
		want(t, "usage", fmt.Sprint(u.ModelCalls, " ", u.Input, " ", u.Output), "4 12 8")
	}},
	{name: "the request has the call and the parameters of the llm", world: func(_ *engine.Program, h *engine.Host) {
		h.Models["main"] = modelFunc(func(r *model.Request) (*model.Reply, error) {
			return &model.Reply{Text: fmt.Sprint(r.Params.Model, " ", r.Step, " ", r.Messages[0].Text, " ", r.Tools[0].Name)}, nil
		})
	}, node: func(t *testing.T, s engine.Scope) {
		reply, err := s.Model("call", model.Call{
			Role: "executor", LLM: "main", StepID: "s1", Step: "goal", Tools: []model.ToolDef{{Name: "add"}},
			Messages: []model.Message{{Role: model.User, Text: model.Text{"hello"}}},
		})
		want(t, "error", err, nil)
		if reply != nil {
			want(t, "request", reply.Text, "m-1 goal hello add")
		}
	}},
	{name: "a failed model falls back, with a warning", node: func(t *testing.T, s engine.Scope) {
		reply, err := s.Model("call", model.Call{Role: "planner", LLM: "broken"})
		want(t, "error", err, nil)
		if reply != nil {
			want(t, "reply", reply.Text, "planner 1")
		}
		want(t, "warnings", len(s.View().State.Warnings), 1)
	}},
	{name: "the error of a model is a model.Error", node: func(t *testing.T, s engine.Scope) {
		_, err := s.Model("call", model.Call{Role: "planner", LLM: "refusing"})
		if me := model.AsError(err); me == nil || me.Kind != model.BadRequest {
			t.Errorf("%v", err)
		}
		want(t, "the run continues", s.Sleep("wait", time.Second), nil)
	}},
	{name: "an undefined llm ends the run", node: func(t *testing.T, s engine.Scope) {
		_, err := s.Model("call", model.Call{Role: "planner", LLM: "undefined"})
		wantStopError(t, "error", err, stop.Internal, stop.RunFailed)
	}},
}

// call calls a tool in a step.
func call(t *testing.T, s engine.Scope, name, toolName, args string) tool.Record {
	t.Helper()
	rec, _, err := s.Tool(name, engine.Invocation{Tool: toolName, Args: json.RawMessage(args), StepID: "s1", CallID: "c1"})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return rec
}

var scopeTools = []scopeCase{
	{name: "a call is recorded", node: func(t *testing.T, s engine.Scope) {
		rec := call(t, s.Child("x"), "tool.1", "add", `{"a":1}`)
		want(t, "status", rec.Status, tool.CallOK)
		want(t, "result", rec.Text(), `{"a":1}`)
		want(t, "origin", rec.Turn+" "+rec.CallID, "x c1")
		st := s.View().State
		want(t, "calls", fmt.Sprint(len(st.Calls), " ", st.Usage.ToolCalls), "1 1")
		want(t, "step", st.Calls[0].Step+" "+st.Calls[0].Record.Tool, "s1 add")
		want(t, "in flight", len(s.View().InFlight), 0)
	}},
	{name: "failures of tools are data", node: func(t *testing.T, s engine.Scope) {
		for i, c := range []struct{ tool, args, says string }{
			{"undefined", `{}`, "undefined"},
			{"fails", `{}`, "no such file"},
			{"add", `{}`, "a is required"},
			{"add", `[1]`, "not a JSON object"},
			{"add", `{"a":`, "not a JSON object"},
		} {
			rec := call(t, s, fmt.Sprint("tool.", i), c.tool, c.args)
			if rec.Status != tool.CallError || !strings.Contains(rec.Text(), c.says) || !json.Valid(rec.Args) {
				t.Errorf("%s %s: %+v", c.tool, c.args, rec)
			}
		}
		want(t, "calls", len(s.View().State.Calls), 5)
	}},
	{name: "no arguments are an empty object", node: func(t *testing.T, s engine.Scope) {
		want(t, "args", string(call(t, s, "tool.1", "save", "").Args), "{}")
	}},
	{name: "only a tool that writes has written", node: func(t *testing.T, s engine.Scope) {
		_, read, _ := s.Tool("tool.1", engine.Invocation{Tool: "add", Args: json.RawMessage(`{"a":1}`)})
		_, wrote, _ := s.Tool("tool.2", engine.Invocation{Tool: "save"})
		want(t, "wrote", []bool{read, wrote}, []bool{false, true})
	}},
	{name: "a refused or obsolete call is not made", node: func(t *testing.T, s engine.Scope) {
		refused, wrote, err := s.Tool("tool.1", engine.Invocation{Tool: "save", Refuse: "too many calls"})
		want(t, "refused", fmt.Sprint(refused.Status, " ", refused.Text(), " ", wrote, " ", err), "error too many calls false <nil>")
		moot, wrote, err := s.Tool("tool.2", engine.Invocation{Tool: "save", Obsolete: func() error { return errors.New("a new plan is made") }})
		want(t, "obsolete", fmt.Sprint(moot.Status, " ", wrote, " ", err), "denied false <nil>")
	}},
	{name: "arguments are checked without a call", node: func(t *testing.T, s engine.Scope) {
		want(t, "fit", s.Fits("add", json.RawMessage(`{"a":1}`)), nil)
		for _, c := range [][2]string{{"add", `{}`}, {"add", `7`}, {"undefined", `{}`}} {
			if s.Fits(c[0], json.RawMessage(c[1])) == nil {
				t.Errorf("%v fits", c)
			}
		}
		want(t, "calls", len(s.View().State.Calls), 0)
	}},
	{name: "a human approves or denies a call", world: func(_ *engine.Program, h *engine.Host) {
		h.Tools[1].Spec.Approval = component.GuardRef{Source: "always"}
		h.Responder = answers{"x/tool.1.approval": "yes", "x/tool.2.approval": "no: not today"}
	}, node: func(t *testing.T, s engine.Scope) {
		s = s.Child("x")
		want(t, "approved", call(t, s, "tool.1", "save", "").Status, tool.CallOK)
		denied := call(t, s, "tool.2", "save", "")
		if denied.Status != tool.CallDenied || !strings.Contains(denied.Text(), "not today") {
			t.Errorf("%+v", denied)
		}
	}},
	{name: "a guard denies a call", world: func(p *engine.Program, _ *engine.Host) {
		p.Guards = []engine.Guard{guard("g", engine.BeforeTool, engine.GuardDeny, nil)}
	}, node: func(t *testing.T, s engine.Scope) {
		rec := call(t, s, "tool.1", "save", "")
		want(t, "record", fmt.Sprint(rec.Status, " ", rec.Text()), "denied not allowed: g fired")
	}},
	{name: "a guard before a call requests a new plan and the call is not made", world: func(p *engine.Program, _ *engine.Host) {
		p.Guards = []engine.Guard{guard("g", engine.BeforeTool, engine.GuardReplan, nil)}
	}, node: func(t *testing.T, s engine.Scope) {
		rec, wrote, err := s.Tool("tool.1", engine.Invocation{Tool: "save"})
		urge, _ := errors.AsType[*engine.ReplanError](err)
		if rec.Status != tool.CallDenied || wrote || urge == nil || urge.Message != "g fired" {
			t.Errorf("%+v %v %v", rec, wrote, err)
		}
	}},
	{name: "a guard after a call requests a new plan and the record is kept", world: func(p *engine.Program, _ *engine.Host) {
		p.Guards = []engine.Guard{guard("g", engine.AfterTool, engine.GuardReplan, nil)}
	}, node: func(t *testing.T, s engine.Scope) {
		rec, wrote, err := s.Tool("tool.1", engine.Invocation{Tool: "save"})
		want(t, "record", fmt.Sprint(rec.Status, " ", wrote, " ", errors.Is(err, engine.ErrReplan)), "ok true true")
	}},
	{name: "the limit of tool calls ends the run", world: func(p *engine.Program, _ *engine.Host) {
		p.Limits.MaxToolCalls = 1
	}, node: func(t *testing.T, s engine.Scope) {
		call(t, s, "tool.1", "save", "")
		_, _, err := s.Tool("tool.2", engine.Invocation{Tool: "save"})
		wantStopError(t, "error", err, stop.MaxToolCalls, stop.RunStopped)
	}},
}

// evaluateGuards evaluates the guards after a step.
func evaluateGuards(s engine.Scope) (engine.Verdict, error) {
	return s.Guards(engine.AfterStep, nil)
}

func guards(all ...engine.Guard) func(*engine.Program, *engine.Host) {
	for i := range all {
		all[i].Index = i
	}
	return func(p *engine.Program, h *engine.Host) {
		p.Guards, h.Responder = all, answers{"guard.yes": "yes", "guard.no": "no", "tool.1/guard.no": "no"}
	}
}

var errGuard = errors.New("out of range")

var scopeGuards = []scopeCase{
	{name: "guards of other places are not evaluated", world: guards(guard("g", engine.AfterPlan, engine.GuardStop, nil)), node: func(t *testing.T, s engine.Scope) {
		v, err := evaluateGuards(s)
		want(t, "verdict", v, engine.Verdict{})
		want(t, "error", err, nil)
	}},
	{
		name:  "the first guard that fires decides",
		world: guards(guard("first", engine.AfterStep, engine.GuardReplan, nil), guard("second", engine.AfterStep, engine.GuardStop, nil)),
		node: func(t *testing.T, s engine.Scope) {
			v, err := evaluateGuards(s)
			want(t, "verdict", v, engine.Verdict{Replan: true, Message: "first fired", Path: "guards[0]"})
			want(t, "error", err, nil)
			want(t, "urge", errors.Is(v.ReplanRequest(), engine.ErrReplan), true)
		},
	},
	endingGuard("stops", engine.GuardStop, nil, stop.RunStopped),
	endingGuard("ends the run as a success", engine.GuardSucceed, nil, stop.RunCompleted),
	endingGuard("fails the run", engine.GuardFail, nil, stop.RunFailed),
	endingGuard("that cannot be evaluated is no success", engine.GuardSucceed, errGuard, stop.RunStopped),
	endingGuard("that cannot be evaluated fails where it would", engine.GuardFail, errGuard, stop.RunFailed),
	{name: "a guard that cannot be evaluated denies a call", world: guards(guard("g", engine.BeforeTool, engine.GuardReplan, errGuard)), node: func(t *testing.T, s engine.Scope) {
		want(t, "status", call(t, s, "tool.1", "save", "").Status, tool.CallDenied)
		want(t, "warnings", len(s.View().State.Warnings), 1)
	}},
	{
		name:  "after a human approves, the next guard is evaluated",
		world: guards(guard("yes", engine.AfterStep, engine.GuardInterrupt, nil), guard("no", engine.AfterStep, engine.GuardInterrupt, nil)),
		node: func(t *testing.T, s engine.Scope) {
			_, err := evaluateGuards(s)
			wantStopError(t, "error", err, stop.Guard, stop.RunStopped)
		},
	},
	{name: "before a tool a denial affects only that call", world: guards(guard("no", engine.BeforeTool, engine.GuardInterrupt, nil)), node: func(t *testing.T, s engine.Scope) {
		want(t, "status", call(t, s, "tool.1", "save", "").Status, tool.CallDenied)
		want(t, "the run goes on", s.Sleep("wait", time.Second), nil)
	}},
}

// endingGuard returns a case with a guard that ends the run.
func endingGuard(name string, do engine.GuardAction, why error, status stop.RunStatus) scopeCase {
	return scopeCase{name: "a guard " + name, world: guards(guard("g", engine.AfterStep, do, why)), node: func(t *testing.T, s engine.Scope) {
		_, err := evaluateGuards(s)
		wantStopError(t, "error", err, stop.Guard, status)
	}}
}

var scopeEnds = []scopeCase{
	{name: "once the run is stopping every effect and every wait returns its reason", world: guards(guard("g", engine.AfterStep, engine.GuardStop, nil)), node: func(t *testing.T, s engine.Scope) {
		_, end := evaluateGuards(s)
		_, modelErr := s.Model("model", model.Call{Role: "planner", LLM: "main"})
		_, wrote, toolErr := s.Tool("tool", engine.Invocation{Tool: "save"})
		_, askErr := s.Ask("ask", interrupt.Question{Kind: interrupt.Human})
		_, agentErr := s.Agent("agent", programOf(func(engine.Scope) error { return nil }), nil)
		_, guardErr := evaluateGuards(s)
		for what, err := range map[string]error{
			"model": modelErr, "tool": toolErr, "ask": askErr, "agent": agentErr, "guards": guardErr,
			"sleep": s.Sleep("sleep", time.Second), "await": s.Await(func() bool { return true }),
			"timeout": s.Timeout("t", time.Second, func(engine.Scope) error { return nil }),
			"child":   s.Child("c").Sleep("sleep", time.Second),
		} {
			want(t, what, err, end)
		}
		want(t, "wrote", wrote, false)
		s.Record(engine.WarningAdded{Text: "w"})
		want(t, "facts are still recorded", s.View().State.Warnings, []string{"w"})
	}},
	{name: "the end of the run ends the waits of other branches", world: guards(guard("g", engine.AfterStep, engine.GuardStop, nil)), node: func(t *testing.T, s engine.Scope) {
		var errs [2]error
		_ = branches(s,
			func(s engine.Scope) error { errs[0] = s.Sleep("long", time.Hour); return nil },
			func(s engine.Scope) error { errs[1] = s.Await(func() bool { return false }); return nil },
			func(s engine.Scope) error {
				_ = s.Sleep("short", time.Second)
				_, err := evaluateGuards(s)
				return err
			})
		wantStopError(t, "sleep", errs[0], stop.Guard, stop.RunStopped)
		wantStopError(t, "await", errs[1], stop.Guard, stop.RunStopped)
		want(t, "time", s.Now(), time.Second)
	}},
	{name: "a limit that is not raised is exceeded", node: func(t *testing.T, s engine.Scope) {
		want(t, "within", s.Exceeded(func(l engine.Limits) bool { return l.MaxSteps > 20 }), false)
		want(t, "over", s.Exceeded(func(l engine.Limits) bool { return l.MaxSteps <= 20 }), true)
	}},
	{name: "a question has the path of its scope and is answered", world: func(_ *engine.Program, h *engine.Host) {
		h.Responder = answers{"x/ask": "deny: too dear", "ask": "some words"}
	}, node: func(t *testing.T, s engine.Scope) {
		d, err := s.Child("x").Ask("ask", interrupt.Question{Kind: interrupt.Human, Question: "go?"})
		want(t, "answer", fmt.Sprint(d.Do, " ", d.Reason, " ", d.Approved(), " ", err), "deny too dear false <nil>")
		d, err = s.Ask("ask", interrupt.Question{Kind: interrupt.Human, Question: "what?"})
		want(t, "answer", fmt.Sprint(d.Do, " ", d.Text, " ", err), "text some words <nil>")
	}},
}

// agents lets nested agents use the default world.
func agents(_ *engine.Program, h *engine.Host) {
	h.Nested = func(p *engine.Program, _ map[string]any) (engine.Host, error) {
		_, nested := scopeWorld(nil)
		return nested, nil
	}
}

var scopeAgents = []scopeCase{
	{name: "an agent answers, and its usage counts", world: agents, node: func(t *testing.T, s engine.Scope) {
		p, _ := scopeWorld(func(in engine.Scope) error {
			want(t, "path", in.Path(), "x/agent")
			want(t, "number", in.Nth("plan"), "plan.1")
			want(t, "question", in.View().State.Question, "inner")
			reply, err := in.Model("model", model.Call{Role: "planner", LLM: "main"})
			if err == nil {
				in.Record(engine.Answered{Answer: engine.Answer{Text: reply.Text}})
			}
			return err
		})
		s.Nth("plan")
		res, err := s.Child("x").Agent("agent", p, map[string]any{"question": "inner"})
		if err != nil {
			t.Error(err)
			return
		}
		want(t, "result", fmt.Sprint(res.Status, " ", res.Response, " ", res.Usage.ModelCalls), "completed planner 1 1")
		want(t, "usage", s.View().State.Usage.ModelCalls, 1)
	}},
	{name: "an agent that fails is data", world: agents, node: func(t *testing.T, s engine.Scope) {
		res, err := s.Agent("agent", programOf(func(engine.Scope) error { return stop.Fail(stop.StepFailed, "", "no luck") }), nil)
		if err != nil {
			t.Error(err)
			return
		}
		want(t, "result", fmt.Sprint(res.Status, " ", res.StopReason.Code), "failed step_failed")
		want(t, "the run goes on", s.Sleep("wait", time.Second), nil)
	}},
	{name: "invalid parameters of an agent are data", world: agents, node: func(t *testing.T, s engine.Scope) {
		p := programOf(func(engine.Scope) error { return nil })
		p.Parameters = []engine.Parameter{{Name: "city", Required: true}}
		res, err := s.Agent("agent", p, nil)
		if err != nil {
			t.Error(err)
			return
		}
		want(t, "result", fmt.Sprint(res.Status, " ", strings.Contains(res.Error, "city")), "failed true")
	}},
	{name: "an agent that is not connected ends the run", node: func(t *testing.T, s engine.Scope) {
		_, err := s.Agent("agent", programOf(func(engine.Scope) error { return nil }), nil)
		wantStopError(t, "error", err, stop.Internal, stop.RunFailed)
	}},
}
