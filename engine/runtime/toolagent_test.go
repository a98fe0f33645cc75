package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// agentTool is a tool that is a nested agent.
type agentTool struct {
	funcTool
	program *engine.Program
}

func (d agentTool) Program() *engine.Program { return d.program }

func (d agentTool) Parameters(args json.RawMessage, _ *tool.PlanContext) (map[string]any, error) {
	return map[string]any{"question": string(args)}, nil
}

// nestedProgram returns a program with another one as the tool "agent"; change modifies
// the tool's spec.
func nestedProgram(inner *engine.Program, calls int, recs *[]tool.Record, tools map[string][]tool.Binding, change func(*tool.Spec)) (*engine.Program, engine.Host) {
	p := program(map[string]nodeFunc{"a": callTool("agent", calls, true, recs)})
	p.Agents = []*engine.Program{inner}
	bound := named("agent", agentTool{program: inner})
	if change != nil {
		change(bound.Spec)
	}
	h := engine.Host{Tools: []tool.Binding{bound}}
	h.Nested = func(p *engine.Program, _ map[string]any) (engine.Host, error) {
		return engine.Host{Tools: tools[p.Name], Nested: h.Nested}, nil
	}
	return p, h
}

func TestNestingLimit(t *testing.T) {
	var recs []tool.Record
	deepest := 0
	inner := program(nil)
	inner.Name, inner.Agents = "inner", []*engine.Program{inner}
	inner.Graph.Nodes = program(map[string]nodeFunc{"a": nothing}).Graph.Nodes
	inner.Nodes["a"] = nodeFunc(func(s engine.Scope) error {
		deepest = max(deepest, strings.Count(s.Path()+"/", "tool.0/"))
		rec, _, err := s.Tool("tool.0", engine.Invocation{Tool: "agent", StepID: "s1"})
		if err == nil && rec.Status != tool.CallOK {
			s.Record(engine.WarningAdded{Text: rec.Text()})
		}
		return err
	})
	tools := map[string][]tool.Binding{"inner": {named("agent", agentTool{program: inner})}}
	p, h := nestedProgram(inner, 1, &recs, tools, nil)
	res := runs(p, h)
	if res.Status != stop.RunCompleted || recs[0].Status != tool.CallOK || deepest != 5 {
		t.Errorf("%+v, %d deep: %+v", res.StopReason, deepest, recs)
	}
	if !slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, "agents are nested deeper than 5") }) {
		t.Errorf("%v", res.Warnings)
	}
}

// TestTimeoutOfAnAgentEndsOnlyItsCall checks that each call of a turn has its own timer,
// which ends only that call.
func TestTimeoutOfAnAgentEndsOnlyItsCall(t *testing.T) {
	var recs []tool.Record
	inner := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		d := time.Second
		if s.View().State.Question == `{"n":1}` {
			d = time.Hour
		}
		return s.Sleep("wait", d)
	}})
	inner.Limits.MaxDuration = 2 * time.Hour
	p, h := nestedProgram(inner, 3, &recs, nil, func(t *tool.Spec) { t.Timeout = time.Minute })
	j := &journal.Memory{RoundTrip: true}
	for range 2 { // and run again
		res := session(t, p, h, j, runtime.Options{Virtual: true})
		if res.Status != stop.RunCompleted || recs[0].Status != tool.CallOK || recs[1].Status != tool.CallTimedOut || recs[2].Status != tool.CallOK {
			t.Fatalf("%+v %+v", res.StopReason, recs)
		}
		if recs[1].Text() != "the agent timed out after 1m0s" || recs[1].DurationMS != time.Minute.Milliseconds() {
			t.Errorf("%+v", recs[1])
		}
	}
}

// concurrencyCounter counts concurrent calls, and releases them once enough are in flight.
type concurrencyCounter struct {
	mu         sync.Mutex
	open, most int
	enough     int
	let        chan struct{}
	once       sync.Once
}

func (c *concurrencyCounter) call(ctx context.Context, _ *tool.Call) (*tool.Output, error) {
	c.mu.Lock()
	c.open++
	c.most = max(c.most, c.open)
	if c.open >= c.enough {
		c.once.Do(func() { close(c.let) })
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.open--
		c.mu.Unlock()
	}()
	select {
	case <-c.let:
		return &tool.Output{Text: "done"}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestConcurrencyLimit(t *testing.T) {
	for _, max := range []int{0, 1, 3} {
		for _, kind := range []string{"tool", "agent", "server"} {
			t.Run(fmt.Sprintf("%d of a %s", max, kind), func(t *testing.T) {
				at := tool.DefaultConcurrency
				if max > 0 {
					at = max
				}
				var recs []tool.Record
				c := &concurrencyCounter{enough: at, let: make(chan struct{})}
				one := funcTool{tool.ReadEffect, c.call}
				name, bind := "x", func(s *tool.Spec) { s.MaxConcurrent = max }
				bound := named("x", one)
				bind(bound.Spec)
				h := engine.Host{Tools: []tool.Binding{bound}}
				p := program(map[string]nodeFunc{"a": func(s engine.Scope) error { return callTool(name, 20, true, &recs)(s) }})
				switch kind {
				case "agent":
					inner := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
						_, _, err := s.Tool("tool", engine.Invocation{Tool: "x"})
						return err
					}})
					p.Agents = []*engine.Program{inner}
					_, h = nestedProgram(inner, 1, &recs, map[string][]tool.Binding{"p": {named("x", one)}}, bind)
					name = "agent"
				case "server":
					set := &enginetest.Toolset{Tools: []tool.Definition{{Name: "one"}, {Name: "two"}}, Respond: func(ctx context.Context, _ string, call *tool.Call) (*tool.Output, error) {
						return c.call(ctx, call)
					}}
					many := named("x", set)
					many.Spec.Effect = tool.ReadEffect
					bind(many.Spec)
					h, name = engine.Host{Tools: []tool.Binding{many}}, "x__one"
				}
				res := session(t, p, h, &journal.Memory{}, runtime.Options{})
				if res.Status != stop.RunCompleted || c.most != at {
					t.Errorf("%+v: %d at once", res.StopReason, c.most)
				}
				for i, rec := range recs {
					if rec.Status != tool.CallOK {
						t.Errorf("%d: %s %s", i, rec.Status, rec.Text())
					}
				}
			})
		}
	}
}

// programWithServer returns a program with a tool server in a nested agent.
func programWithServer(set tool.Toolset, pinned func(*tool.Listing) error, calls int, recs *[]tool.Record, node nodeFunc) (*engine.Program, engine.Host) {
	many := named("srv", set)
	many.Pinned = pinned
	return nestedProgram(program(map[string]nodeFunc{"a": node}), calls, recs, map[string][]tool.Binding{"p": {many}}, nil)
}

// The servers of a nested agent are closed however it ends.
func TestServersOfNestedAgentsAreClosed(t *testing.T) {
	ends := map[string]nodeFunc{
		"at its end": nothing,
		"in a fault": func(engine.Scope) error { return stop.Fail(stop.StepFailed, "", "no") },
		"by a stop":  func(s engine.Scope) error { return s.Sleep("long", time.Hour) },
		"waiting": func(s engine.Scope) error {
			_, err := s.Ask("ask", interrupt.Question{Kind: interrupt.Human})
			return err
		},
		"in a broken house": func(engine.Scope) error { return errors.New("a promise was broken") },
	}
	for name, node := range ends {
		t.Run(name, func(t *testing.T) {
			var recs []tool.Record
			set := &enginetest.Toolset{Server: "srv"}
			p, h := programWithServer(set, nil, 2, &recs, node)
			p.Limits.MaxDuration = time.Minute
			runs(p, h)
			if set.ListCalls.Load() != 2 || set.CloseCalls.Load() != 2 {
				t.Errorf("listed %d times, closed %d times", set.ListCalls.Load(), set.CloseCalls.Load())
			}
		})
	}
}

// A worker does not know when the call of an agent ends. It closes the servers of those that it
// has not used for long.
func TestWorkersCloseServersOfEarlierAgents(t *testing.T) {
	var recs []tool.Record
	set := &enginetest.Toolset{Server: "srv"}
	p, h := programWithServer(set, nil, 1, &recs, nothing)
	site := runtime.NewSite(p, h, question())
	for i := range 20 {
		for range 2 {
			w := &runtime.Work{Agents: []runtime.AgentCall{{Path: fmt.Sprint("agent.", i)}}}
			if err := json.Unmarshal([]byte(`{"list": {"toolset": "srv"}}`), w); err != nil {
				t.Fatal(err)
			}
			if out := site.Perform(t.Context(), w, nil); out.Fatal != nil {
				t.Fatal(out.Fatal)
			}
		}
	}
	if listed, closed := set.ListCalls.Load(), set.CloseCalls.Load(); listed != 40 || closed != 12 {
		t.Errorf("listed %d times, closed %d servers of 20", listed, closed)
	}
	if err := site.Close(); err != nil || set.CloseCalls.Load() != 20 {
		t.Errorf("%v, %d closed at the end", err, set.CloseCalls.Load())
	}
}

// TestChangedToolsOfAnAgentEndTheRun checks that changed tools are not just a failure of
// the tool call.
func TestChangedToolsOfAnAgentEndTheRun(t *testing.T) {
	var recs []tool.Record
	p, h := programWithServer(&enginetest.Toolset{}, func(*tool.Listing) error { return fmt.Errorf("%w: look", tool.ErrChanged) }, 1, &recs, nothing)
	if res := runs(p, h); res.StopReason.Code != stop.ToolsChanged || res.Status != stop.RunFailed {
		t.Errorf("%+v", res.StopReason)
	}
}

func TestEffectOfAnAgentIsItsStrongestTool(t *testing.T) {
	with := func(effects ...tool.Effect) *engine.Program {
		p := &engine.Program{}
		for _, e := range effects {
			p.Tools = append(p.Tools, tool.Spec{Effect: e})
		}
		return p
	}
	nesting := func(p *engine.Program, agents ...*engine.Program) *engine.Program {
		p.Agents = agents
		return p
	}
	cases := []struct {
		name string
		p    *engine.Program
		want tool.Effect
	}{
		{"without tools", with(), tool.ReadEffect},
		{"that read", with("read", "read"), tool.ReadEffect},
		{"one is idempotent", with("read", "idempotent", "read"), tool.IdempotentEffect},
		{"one writes", with("read", "write", "idempotent"), tool.WriteEffect},
		{"one does not say", with("read", ""), tool.WriteEffect},
		{"an agent within writes", nesting(with("read"), with("read"), nesting(with(), with("write"))), tool.WriteEffect},
		{"an agent within is idempotent", nesting(with("read"), with("idempotent")), tool.IdempotentEffect},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.p.Effect(); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}
