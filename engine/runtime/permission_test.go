package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// The actors of the tests of rules. ines starts the runs.
var (
	ines    = engine.Actor{User: "ines", Host: "desk"}
	finance = engine.Actor{User: "fred", Issuer: "tokens", Roles: []string{"approve", "finance"}, Tenant: "acme"}
	support = engine.Actor{User: "sue", Issuer: "tokens", Roles: []string{"approve", "support"}}
	oidc    = engine.Actor{User: "fay@example.com", Issuer: "https://id.example.com", Roles: []string{"finance"}}
	account = engine.Actor{User: "otto", Host: "desk"}
	nobody  = engine.Actor{User: "anonymous", Roles: []string{"admin", "finance"}}
)

// rule returns a rule with a condition on the actor.
func rule(fourEyes bool, source string, holds func(env map[string]any) (bool, error)) interrupt.Rule {
	r := interrupt.Rule{FourEyes: fourEyes, Approvers: component.GuardRef{Source: source}}
	r.Approvers.Bind(holds)
	return r
}

func inFinance(env map[string]any) (bool, error) {
	return slices.Contains(env["by"].(exprenv.Actor).Roles, "finance"), nil
}

var rules = map[string]interrupt.Rule{
	"finance":   rule(false, `"finance" in by.roles`, inFinance),
	"four eyes": {FourEyes: true},
	"both":      rule(true, `"finance" in by.roles`, inFinance),
	"undecided": rule(false, "by.nonsense", func(map[string]any) (bool, error) { return true, errors.New("no such field") }),
}

// mayApprove has the rules that let an actor approve what ines started.
var mayApprove = []struct {
	name  string
	by    engine.Actor
	rules []string
}{
	{"who started it", ines, nil},
	{"a local account", account, []string{"four eyes"}},
	{"a token with the role", finance, []string{"finance", "four eyes", "both"}},
	{"a token without the role", support, []string{"four eyes"}},
	{"an issuer's client", oidc, []string{"finance", "four eyes", "both"}},
	{"a client without authentication", nobody, nil},
	{"an unknown actor", engine.Actor{}, nil},
}

// shared is a responder of several people that always gives the same answer, once.
type shared struct {
	typed string
	by    engine.Actor
	asked map[string]bool
}

func (s *shared) Ask(context.Context, interrupt.Question) (json.RawMessage, error) {
	panic("it is shared")
}

func (s *shared) AskShared(_ context.Context, q interrupt.Question) (json.RawMessage, engine.Actor, error) {
	if s.asked[q.Path] {
		return nil, engine.Actor{}, errors.New("nobody else is there")
	}
	s.asked[q.Path] = true
	b, err := json.Marshal(interrupt.Parse(s.typed))
	return b, s.by, err
}

// restricted runs a session of a run that ines started, of a program that calls pay, in
// the run or in an agent of it.
func restricted(t *testing.T, r interrupt.Rule, nested bool, j *journal.Memory, o runtime.Options, people interrupt.Responder) *engine.Result {
	t.Helper()
	var recs []tool.Record
	pay := funcTool{tool.WriteEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
		return &tool.Output{Text: "paid"}, nil
	}}
	spec := &tool.Spec{Name: "pay", Approval: component.GuardRef{Source: "always"}, Rule: r}
	calls := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		err := callTool("pay", 1, false, &recs)(s)
		if err == nil {
			s.Record(engine.Answered{Answer: engine.Answer{Text: string(recs[0].Status)}})
		}
		return err
	}})
	p, h := calls, engine.Host{Tools: []tool.Binding{{Spec: spec, Tool: pay}}}
	if nested {
		inner := h
		h = engine.Host{Nested: func(*engine.Program, map[string]any) (engine.Host, error) { return inner, nil }}
		p = program(map[string]nodeFunc{"a": func(s engine.Scope) error {
			res, err := s.Agent("agent", calls, nil)
			if err == nil {
				s.Record(engine.Answered{Answer: engine.Answer{Text: res.Response}})
			}
			return err
		}})
		p.Agents = []*engine.Program{calls}
	}
	h.Responder, o.Journal = people, j
	in := question()
	in.By = &ines
	return execute(t.Context(), p, in, h, o)
}

func TestRulesDecideWhoMayApprove(t *testing.T) {
	for name, r := range rules {
		for _, c := range mayApprove {
			for typed, does := range map[string]string{"approve": "ok", `edit:{"n":7}`: "ok", "deny": "denied", "maybe": "denied"} {
				may := slices.Contains(c.rules, name) || does == "denied"
				if r.FourEyes && strings.HasPrefix(typed, "edit") {
					continue // see TestSomeoneElseApprovesAnEdit
				}
				for _, nested := range []bool{false, true} {
					check := func(how string, res *engine.Result) {
						t.Helper()
						got := "waiting"
						if res.Status == stop.RunCompleted {
							got = res.Response
						}
						want := "waiting"
						if may {
							want = does
						}
						if got != want || may != (len(res.Decisions) == 1) {
							t.Errorf("%s, %s, %s, %s, nested %v: %s (%v), want %s", name, c.name, typed, how, nested, got, res.StopReason, want)
						}
						if !may && (len(res.Interrupts) != 1 || res.Interrupts[0].Permit(c.by, "approve") == nil || res.Interrupts[0].RuleText() != r.String()) {
							t.Errorf("%s, %s, %s: %+v", name, c.name, how, res.Interrupts)
						}
					}
					check("at the terminal", restricted(t, r, nested, &journal.Memory{}, runtime.Options{By: c.by}, &answers{typed: []string{typed}}))
					check("on a server", restricted(t, r, nested, &journal.Memory{}, runtime.Options{By: ines}, &shared{typed, c.by, map[string]bool{}}))
					j := &journal.Memory{}
					path := restricted(t, r, nested, j, runtime.Options{}, nil).Interrupts[0].Path
					check("parked", restricted(t, r, nested, j, runtime.Options{By: c.by, Answers: map[string]json.RawMessage{path: encodeAnswer(t, typed)}}, nil))
				}
			}
		}
	}
}

// The journal has the roles that a rule read, and a replay neither needs nor evaluates it.
func TestRolesAreJournaledIfTheRuleReadsThem(t *testing.T) {
	broken := rule(true, `"finance" in by.roles`, func(map[string]any) (bool, error) { panic("a replay evaluates nothing") })
	for name, want := range map[string]engine.Actor{
		"finance":   {User: "fred", Issuer: "tokens", Roles: finance.Roles},
		"four eyes": {User: "fred", Issuer: "tokens"},
	} {
		j := &journal.Memory{}
		res := restricted(t, rules[name], false, j, runtime.Options{}, &shared{"approve", finance, map[string]bool{}})
		if d := cmp.Diff(&want, res.Decisions[0].By); d != "" {
			t.Error(name, d)
		}
		again := restricted(t, rules[name], false, j, runtime.Options{Follow: &runtime.Tail{}}, nil)
		if d := cmp.Diff(res.Decisions, again.Decisions); d != "" {
			t.Error(d)
		}
		if name == "finance" {
			broken.FourEyes = false
			if res := restricted(t, broken, false, j, runtime.Options{Follow: &runtime.Tail{}}, nil); res.Response != "ok" {
				t.Errorf("%s %s", res.Status, res.Error)
			}
		}
	}
}

// With four eyes, an edit is a proposal that someone else approves.
func TestSomeoneElseApprovesAnEdit(t *testing.T) {
	j := &journal.Memory{}
	restricted(t, rules["both"], false, j, runtime.Options{}, nil)
	parked := restricted(t, rules["both"], false, j, runtime.Options{By: finance, Answers: map[string]json.RawMessage{"tool.0.approval": encodeAnswer(t, `edit:{"n":7}`)}}, nil)
	if len(parked.Interrupts) != 1 || parked.Interrupts[0].Path != "tool.0.approval.2" || string(parked.Interrupts[0].Args) != `{"n":7}` {
		t.Fatalf("%+v", parked.Interrupts)
	}
	give := func(by engine.Actor) *engine.Result {
		return restricted(t, rules["both"], false, j, runtime.Options{By: by, Answers: map[string]json.RawMessage{"tool.0.approval.2": encodeAnswer(t, "approve")}}, nil)
	}
	if res := give(finance); res.Status != stop.RunInterrupted || !strings.Contains(res.StopReason.Message, "fred (approve, finance) changed the run") {
		t.Errorf("who edited it: %v", res.StopReason)
	}
	if res := give(oidc); res.Response != "ok" || string(res.Decisions[1].Args) != `{"n":7}` {
		t.Errorf("someone else: %v %+v", res.StopReason, res.Decisions)
	}
}

// A rule holds for the decision about a write with an unknown outcome.
func TestRulesHoldForUnknownOutcomes(t *testing.T) {
	for _, how := range []string{`done:"paid"`, "redo", "skip"} {
		j := &journal.Memory{}
		restricted(t, rules["both"], false, j, runtime.Options{}, &shared{"approve", finance, map[string]bool{}})
		for i, r := range j.Records {
			if r.Kind == journal.Intent && r.Path == "tool.0" {
				j.Records = j.Records[:i+1] // it crashed during the call
				break
			}
		}
		decide := func(by engine.Actor) *engine.Result {
			return restricted(t, rules["both"], false, j, runtime.Options{By: by, Resolve: map[string]string{"tool.0": how}}, nil)
		}
		before := len(j.Records)
		for _, c := range mayApprove {
			if slices.Contains(c.rules, "both") {
				continue
			}
			res := decide(c.by)
			if res.StopReason.Code != stop.NeedsReview || len(res.Decisions) != 1 || res.Interrupts[0].Permit(c.by, "done") == nil || len(j.Records) > before+1 {
				t.Errorf("%s by %s: %v, %v", how, c.name, res.StopReason, res.Decisions)
			}
			before = len(j.Records)
		}
		if res := decide(oidc); res.Status != stop.RunCompleted || !res.Decisions[1].By.Same(oidc) {
			t.Errorf("%s: %v", how, res.StopReason)
		}
	}
}

// The rule of a guard that asked about a call holds for the decision about its unknown outcome.
func TestTheRuleOfAGuardHoldsForUnknownOutcomes(t *testing.T) {
	paid := 0
	pay := funcTool{tool.WriteEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
		paid++
		return &tool.Output{Text: "paid"}, nil
	}}
	var recs []tool.Record
	p := program(map[string]nodeFunc{"a": callTool("pay", 1, false, &recs)})
	always := component.GuardRef{Source: "true"}
	always.Bind(func(map[string]any) (bool, error) { return true, nil })
	p.Guards = []engine.Guard{
		{Name: "finance", At: engine.BeforeTool, Do: engine.GuardInterrupt, When: always, Rule: rules["both"]},
		{Name: "look", At: engine.BeforeTool, Do: engine.GuardInterrupt, When: always},
	}
	j := &journal.Memory{}
	in := question()
	in.By = &ines
	session := func(o runtime.Options, people interrupt.Responder) *engine.Result {
		o.Journal = j
		return execute(t.Context(), p, in, engine.Host{Tools: []tool.Binding{named("pay", pay)}, Responder: people}, o)
	}
	session(runtime.Options{}, &shared{"approve", finance, map[string]bool{}})
	for i, r := range j.Records {
		if r.Kind == journal.Intent && r.Path == "tool.0" {
			j.Records = j.Records[:i+1] // it crashed during the call
			break
		}
	}
	for _, how := range []string{"redo", `done:"paid"`, "skip"} {
		res := session(runtime.Options{By: support, Resolve: map[string]string{"tool.0": how}}, nil)
		if res.StopReason.Code != stop.NeedsReview || len(res.Interrupts) != 1 || !res.Interrupts[0].FourEyes || paid != 1 {
			t.Fatalf("%s by someone who may not approve it: %v, %+v, paid %d times", how, res.StopReason, res.Interrupts, paid)
		}
	}
	if res := session(runtime.Options{By: oidc, Resolve: map[string]string{"tool.0": "redo"}}, nil); res.Status != stop.RunCompleted || paid != 2 {
		t.Errorf("%v, paid %d times", res.StopReason, paid)
	}
}

// With four eyes, who denied a call with a reason has told the model what to do instead, and
// cannot approve what it does then.
func TestTheReasonOfADenialChangesTheRun(t *testing.T) {
	for typed, may := range map[string]bool{"deny": true, "deny: pay mallory": false, "pay mallory": false} {
		var recs []tool.Record
		pay := funcTool{tool.WriteEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
			return &tool.Output{Text: "paid"}, nil
		}}
		spec := &tool.Spec{Name: "pay", Approval: component.GuardRef{Source: "always"}, Rule: rules["four eyes"]}
		p := program(map[string]nodeFunc{"a": callTool("pay", 2, false, &recs)})
		in := question()
		in.By = &ines
		h := engine.Host{Tools: []tool.Binding{{Spec: spec, Tool: pay}}}
		j := &journal.Memory{}
		give := func(by engine.Actor, path, typed string) *engine.Result {
			return execute(t.Context(), p, in, h, runtime.Options{Journal: j, By: by, Answers: map[string]json.RawMessage{path: encodeAnswer(t, typed)}})
		}
		give(finance, "", "")
		give(finance, "tool.0.approval", typed)
		if res := give(finance, "tool.1.approval", "approve"); (res.Status == stop.RunCompleted) != may {
			t.Errorf("%s: %v, %+v", typed, res.StopReason, res.Decisions)
		}
		if res := give(oidc, "tool.1.approval", "approve"); res.Status != stop.RunCompleted {
			t.Errorf("%s: someone else: %v", typed, res.StopReason)
		}
	}
}

// A rule that depends on the arguments holds for those that are used, not only for those that
// were asked about.
func TestARuleAboutArgumentsHoldsForEditedOnes(t *testing.T) {
	small := rule(false, "tool.args.n <= 200", func(env map[string]any) (bool, error) {
		n, err := env["tool"].(exprenv.Tool).Args["n"].(json.Number).Int64()
		return n <= 200, err
	})
	j := &journal.Memory{}
	give := func(path, typed string) *engine.Result {
		return restricted(t, small, false, j, runtime.Options{By: finance, Answers: map[string]json.RawMessage{path: encodeAnswer(t, typed)}}, nil)
	}
	give("", "")
	parked := give("tool.0.approval", `edit:{"n":100000}`)
	if len(parked.Interrupts) != 1 || string(parked.Interrupts[0].Args) != `{"n":100000}` {
		t.Fatalf("%s %v %+v", parked.Status, parked.StopReason, parked.Interrupts)
	}
	if res := give("tool.0.approval.2", "approve"); res.Status != stop.RunInterrupted {
		t.Errorf("beyond the limit: %v", res.StopReason)
	}
	j = &journal.Memory{}
	give("", "")
	give("tool.0.approval", `edit:{"n":100}`)
	if res := give("tool.0.approval.2", "approve"); res.Response != "ok" {
		t.Errorf("within the limit: %v", res.StopReason)
	}
}
