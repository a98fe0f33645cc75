package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// DriveScope runs the node of a program once, in virtual time, with a scope of the
// implementation under test. The node reports its own failures.
type DriveScope func(t *testing.T, p *engine.Program, in engine.Input, h engine.Host)

// ScopeSuite tests an implementation of engine.Scope against its contract.
func ScopeSuite(t *testing.T, drive DriveScope) {
	for _, cases := range [][]scopeCase{scopeNames, scopeBranches, scopeModels, scopeTools, scopeGuards, scopeEnds, scopeAgents} {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) { c.drive(t, drive) })
		}
	}
	t.Run("ids are the same in every run of an input", func(t *testing.T) {
		var ids [2]string
		for i := range ids {
			c := scopeCase{node: func(t *testing.T, s engine.Scope) { ids[i] = s.Child("a").ID("x") }}
			c.drive(t, drive)
		}
		want(t, "id", ids[1], ids[0])
	})
}

// scopeCase is a node that runs in a world and checks what it observes.
type scopeCase struct {
	name  string
	world func(p *engine.Program, h *engine.Host) // modifies the default world; may be nil
	node  func(t *testing.T, s engine.Scope)
}

func (c scopeCase) drive(t *testing.T, drive DriveScope) {
	t.Helper()
	ran := false
	p, h := scopeWorld(func(s engine.Scope) error {
		c.node(t, s)
		ran = true
		return nil
	})
	if c.world != nil {
		c.world(p, &h)
	}
	drive(t, p, engine.Input{RunID: "r", Parameters: map[string]any{"question": "q"}}, h)
	if !ran {
		t.Error("the node did not finish")
	}
}

// nodeFunc implements engine.Node with a function.
type nodeFunc func(engine.Scope) error

// Run implements engine.Node.
func (f nodeFunc) Run(s engine.Scope) error { return f(s) }

// scopeWorld returns the default world: the LLMs main, and broken with the fallback main;
// the tools add, save, which writes, and fails.
func scopeWorld(f func(engine.Scope) error) (*engine.Program, engine.Host) {
	p := programOf(f)
	p.Models = []engine.ModelSpec{
		{Name: "main", Params: model.Params{Model: "m-1"}, Cost: &model.Cost{Input: 1, Output: 1}},
		{Name: "broken", Fallback: []string{"main"}},
		{Name: "refusing"},
	}
	h := engine.Host{
		Models: map[string]model.Model{
			"main":   modelFunc(answerWithCall),
			"broken": modelFunc(func(*model.Request) (*model.Reply, error) { return nil, errors.New("no route") }),
			"refusing": modelFunc(func(*model.Request) (*model.Reply, error) {
				return nil, &model.Error{Kind: model.BadRequest, Message: "odd"}
			}),
		},
		Tools: []tool.Binding{
			bind("add", toolFunc{tool.ReadEffect, func(c *tool.Call) (*tool.Output, error) { return &tool.Output{Data: c.Args}, nil }}),
			bind("save", toolFunc{tool.WriteEffect, func(*tool.Call) (*tool.Output, error) { return &tool.Output{Text: "saved"}, nil }}),
			bind("fails", toolFunc{tool.ReadEffect, func(*tool.Call) (*tool.Output, error) { return nil, errors.New("no such file") }}),
		},
	}
	h.Tools[0].Fit = func(args json.RawMessage) (json.RawMessage, []tool.ArgsRepair, error) {
		if engine.ArgumentsOf(args)["a"] == nil {
			return nil, nil, errors.New("a is required")
		}
		return args, nil, nil
	}
	return p, h
}

// programOf returns a program with one node.
func programOf(f func(engine.Scope) error) *engine.Program {
	return &engine.Program{
		Name: "p", Digest: "sha256:p", Nodes: map[string]engine.Node{"a": nodeFunc(f)},
		Graph:  &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}},
		Limits: engine.Limits{MaxSteps: 20, MaxReplans: 10},
		Memory: engine.MemorySettings{Backend: "none"},
	}
}

// modelFunc implements model.Model with a function.
type modelFunc func(*model.Request) (*model.Reply, error)

// Generate implements model.Model.
func (f modelFunc) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	return f(req)
}

// answerWithCall replies with the role and number of the call.
func answerWithCall(req *model.Request) (*model.Reply, error) {
	return &model.Reply{Text: fmt.Sprint(req.Role, " ", req.Call), Stop: model.EndTurn, Usage: model.Tokens{Input: 3, Output: 2}}, nil
}

// toolFunc implements tool.Tool with a function.
type toolFunc struct {
	effect tool.Effect
	call   func(*tool.Call) (*tool.Output, error)
}

// Info implements tool.Tool.
func (f toolFunc) Info() tool.Info {
	return tool.Info{Name: "func", Description: "A tool of a test.", Effect: f.effect, Input: json.RawMessage(`{"type":"object"}`)}
}

// Call implements tool.Tool.
func (f toolFunc) Call(_ context.Context, c *tool.Call) (*tool.Output, error) { return f.call(c) }

func bind(name string, t tool.Tool) tool.Binding {
	return tool.Binding{Spec: &tool.Spec{Name: name}, Tool: t}
}

// answers is a Responder with answers by path.
type answers map[string]string

// Ask implements interrupt.Responder.
func (a answers) Ask(_ context.Context, q interrupt.Question) (json.RawMessage, error) {
	text, ok := a[q.Path]
	if !ok {
		return nil, fmt.Errorf("unexpected question %s", q.Path)
	}
	return json.Marshal(interrupt.Parse(text))
}

// guard returns a guard that fires, or fails with err.
func guard(name string, at engine.GuardPlace, do engine.GuardAction, err error) engine.Guard {
	g := engine.Guard{Name: name, At: at, Do: do, Message: name + " fired", When: component.GuardRef{Source: "true"}}
	g.When.Bind(func(map[string]any) (bool, error) { return err == nil, err })
	return g
}

// want compares a value observed by a node. It does not call t.Fatal, since nodes may run
// on another goroutine.
func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// wantStopError checks that err ends the run.
func wantStopError(t *testing.T, what string, err error, code stop.Code, status stop.RunStatus) {
	t.Helper()
	end, ok := errors.AsType[*stop.Error](err)
	if !ok {
		t.Errorf("%s: %v, want a *stop.Error", what, err)
		return
	}
	want(t, what, [2]string{string(end.Reason.Code), string(end.Reason.Status)}, [2]string{string(code), string(status)})
}

// branches runs functions in parallel branches named b0, b1, ...
func branches(s engine.Scope, fs ...func(engine.Scope) error) error {
	return s.Parallel(len(fs), func(i int) string { return fmt.Sprint("b", i) }, func(i int, s engine.Scope) error { return fs[i](s) })
}

// sleeps returns a function that sleeps and then appends a note.
func sleeps(d time.Duration, note string, notes *[]string, err error) func(engine.Scope) error {
	return func(s engine.Scope) error {
		if cut := s.Sleep("wait", d); cut != nil {
			return cut
		}
		*notes = append(*notes, note)
		return err
	}
}

var scopeNames = []scopeCase{
	{name: "paths grow with their scopes", node: func(t *testing.T, s engine.Scope) {
		want(t, "top", s.Path(), "")
		want(t, "child", s.Child("a").Child("b").Path(), "a/b")
		want(t, "child without a name", s.Child("a").Child("").Path(), "a")
	}},
	{name: "Nth counts in the whole run", node: func(t *testing.T, s engine.Scope) {
		want(t, "numbers", []string{s.Nth("plan"), s.Child("x").Nth("plan"), s.Nth("other")}, []string{"plan.1", "plan.2", "other.1"})
	}},
	{name: "ids differ by path and name", node: func(t *testing.T, s engine.Scope) {
		a, b, c := s.ID("x"), s.ID("y"), s.Child("a").ID("x")
		want(t, "same id again", s.ID("x"), a)
		if a == b || a == c || a == "" {
			t.Errorf("ids %q, %q, %q", a, b, c)
		}
	}},
	{name: "nothing is omitted in a new run", node: func(t *testing.T, s engine.Scope) {
		want(t, "omits", s.Omits("x"), false)
	}},
	{name: "a fact changes the state at once, but not older views", node: func(t *testing.T, s engine.Scope) {
		before := s.View()
		s.Record(engine.WarningAdded{Text: "w"})
		want(t, "warnings", s.Child("a").View().State.Warnings, []string{"w"})
		want(t, "warnings before", len(before.State.Warnings), 0)
	}},
	{name: "a view has question, parameters and tools", node: func(t *testing.T, s engine.Scope) {
		v := s.View()
		want(t, "question", v.State.Question, "q")
		want(t, "parameters", v.State.Parameters, map[string]any{"question": "q"})
		var names []string
		for _, info := range v.Tools {
			names = append(names, info.Name)
		}
		want(t, "tools", names, []string{"add", "save", "fails"})
	}},
}

var scopeBranches = []scopeCase{
	{name: "only sleeps take time", node: func(t *testing.T, s engine.Scope) {
		want(t, "begin", s.Now(), time.Duration(0))
		want(t, "error", s.Sleep("one", 3*time.Second), nil)
		want(t, "end", s.Now(), 3*time.Second)
		want(t, "view", s.View().Elapsed, 3*time.Second)
	}},
	{name: "branches wait concurrently", node: func(t *testing.T, s engine.Scope) {
		var notes []string
		err := branches(s, sleeps(3*time.Second, "slow", &notes, nil), sleeps(time.Second, "fast", &notes, nil))
		want(t, "error", err, nil)
		want(t, "order", notes, []string{"fast", "slow"})
		want(t, "time", s.Now(), 3*time.Second)
	}},
	{name: "errors of branches are joined in the order of the branches", node: func(t *testing.T, s engine.Scope) {
		var notes []string
		a, b := errors.New("a"), errors.New("b")
		err := branches(s, sleeps(2*time.Second, "", &notes, a), sleeps(time.Second, "", &notes, b), sleeps(0, "", &notes, nil))
		want(t, "error", fmt.Sprint(err), "a\nb")
		want(t, "all ran", len(notes), 3)
		want(t, "errors are wrapped", errors.Is(err, a) && errors.Is(err, b), true)
	}},
	{name: "branches have paths of their own", node: func(t *testing.T, s engine.Scope) {
		paths := make([]string, 2)
		_ = s.Child("x").Parallel(2, func(i int) string { return fmt.Sprint("b", i) }, func(i int, s engine.Scope) error {
			paths[i] = s.Path()
			return nil
		})
		want(t, "paths", paths, []string{"x/b0", "x/b1"})
		want(t, "no branches", s.Parallel(0, nil, nil), nil)
	}},
	{name: "one branch runs at a time between effects", node: func(t *testing.T, s engine.Scope) {
		n := 0
		adds := func(s engine.Scope) error {
			for i := range 20 {
				before := n
				n = before + 1
				if err := s.Sleep(fmt.Sprint("nap.", i), time.Millisecond); err != nil {
					return err
				}
			}
			return nil
		}
		want(t, "error", branches(s, adds, adds, adds), nil)
		want(t, "sum", n, 60)
	}},
	{name: "await waits for another branch", node: func(t *testing.T, s engine.Scope) {
		var notes []string
		err := branches(s, func(s engine.Scope) error {
			err := s.Await(func() bool { return len(notes) > 0 })
			notes = append(notes, "waited until "+s.Now().String())
			return err
		}, sleeps(2*time.Second, "done", &notes, nil))
		want(t, "error", err, nil)
		want(t, "order", notes, []string{"done", "waited until 2s"})
		want(t, "true condition", s.Await(func() bool { return true }), nil)
	}},
	{name: "a timeout ends only sleeps and awaits below it", node: func(t *testing.T, s engine.Scope) {
		err := s.Timeout("t", time.Second, func(s engine.Scope) error {
			want(t, "path", s.Path(), "t")
			return branches(s, func(s engine.Scope) error { return s.Sleep("long", time.Hour) }, func(s engine.Scope) error {
				if err := s.Await(func() bool { return false }); !engine.TimedOut(err) {
					t.Errorf("await: %v", err)
				}
				return nil
			})
		})
		want(t, "timed out", engine.TimedOut(err), true)
		want(t, "time", s.Now(), time.Second)
		want(t, "after it", s.Sleep("more", time.Second), nil)
	}},
	{name: "an expired timeout is an error whatever its function returns", node: func(t *testing.T, s engine.Scope) {
		err := s.Timeout("t", time.Second, func(s engine.Scope) error {
			_ = s.Sleep("long", time.Hour)
			return nil
		})
		want(t, "timed out", engine.TimedOut(err), true)
	}},
	{name: "before the timeout the function's error is returned", node: func(t *testing.T, s engine.Scope) {
		own := errors.New("own")
		want(t, "error", s.Timeout("t", time.Second, func(engine.Scope) error { return own }), own)
		want(t, "none", s.Timeout("u", time.Second, func(s engine.Scope) error { return s.Sleep("short", time.Millisecond) }), nil)
		want(t, "own errors are no timeouts", engine.TimedOut(own), false)
	}},
	{name: "zero is no timeout", node: func(t *testing.T, s engine.Scope) {
		err := s.Timeout("t", 0, func(s engine.Scope) error { return s.Sleep("long", time.Hour) })
		want(t, "error", err, nil)
	}},
	{name: "an inner timeout does not affect the outer scope", node: func(t *testing.T, s engine.Scope) {
		err := s.Timeout("outer", time.Minute, func(s engine.Scope) error {
			inner := s.Timeout("inner", time.Second, func(s engine.Scope) error { return s.Sleep("long", time.Hour) })
			want(t, "inner", engine.TimedOut(inner), true)
			return s.Sleep("more", time.Second)
		})
		want(t, "outer", err, nil)
	}},
	{name: "an outer timeout ends inner ones", node: func(t *testing.T, s engine.Scope) {
		err := s.Timeout("outer", time.Second, func(s engine.Scope) error {
			return s.Timeout("inner", time.Minute, func(s engine.Scope) error { return s.Sleep("long", time.Hour) })
		})
		want(t, "timed out", engine.TimedOut(err), true)
		want(t, "time", s.Now(), time.Second)
	}},
}
