package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/runtime/replay"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// TestRepeatedCallReusesTheKey checks which calls in a sequence get the idempotency key of
// which earlier call.
func TestRepeatedCallReusesTheKey(t *testing.T) {
	type call struct{ args, does string } // does: u = unknown, f = fails, o = ok
	u, f, o := "u", "f", "o"
	same := `{"n": 1, "m": 2}`
	cases := []struct {
		name   string
		effect tool.Effect
		calls  []call
		keys   string // letter i is the call whose key call i has
	}{
		{"a repeated write", tool.WriteEffect, []call{{same, u}, {same, u}, {same, o}}, "aaa"},
		{"arguments written otherwise", tool.WriteEffect, []call{{same, u}, {`{"m":2,"n":1}`, o}}, "aa"},
		{"other arguments", tool.WriteEffect, []call{{same, u}, {`{"n": 2}`, o}}, "ab"},
		{"a call after one that succeeded is a new one", tool.WriteEffect, []call{{same, u}, {same, o}, {same, o}}, "aac"},
		{"a definite failure in between leaves the first in doubt", tool.WriteEffect, []call{{same, u}, {same, f}, {same, o}}, "aaa"},
		{"a definite failure needs no key", tool.WriteEffect, []call{{same, f}, {same, o}}, "ab"},
		{"an idempotent tool relies on its key", tool.IdempotentEffect, []call{{same, u}, {same, o}}, "aa"},
		{"a tool that reads", tool.ReadEffect, []call{{same, u}, {same, o}}, "ab"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := 0
			keys := make([]string, len(c.calls))
			pay := named("pay", funcTool{c.effect, func(_ context.Context, call *tool.Call) (*tool.Output, error) {
				keys[at] = call.Key
				switch c.calls[at].does {
				case u:
					return nil, tool.UnknownOutcome(errReset)
				case f:
					return nil, errors.New("no such account")
				}
				return &tool.Output{Text: "fine"}, nil
			}})
			pay.Spec.OnUnknown = tool.ContinueUnknown
			node := func(s engine.Scope) error {
				for i, x := range c.calls {
					at = i
					if _, _, err := s.Tool(fmt.Sprint("tool.", i), engine.Invocation{Tool: "pay", Args: json.RawMessage(x.args)}); err != nil {
						return err
					}
				}
				return nil
			}
			p, h := program(map[string]nodeFunc{"a": node}), engine.Host{Tools: []tool.Binding{pay}}
			whole := &journal.Memory{RoundTrip: true}
			session(t, p, h, whole, runtime.Options{})
			var got strings.Builder
			for _, k := range keys {
				got.WriteByte('a' + byte(slices.Index(keys, k)))
			}
			if diff := cmp.Diff(c.keys, got.String()); diff != "" {
				t.Error(diff)
			}
			want := slices.Clone(keys)
			for n := 1; n < len(whole.Records); n++ { // the keys are the same when resumed after any record
				if c.effect == tool.WriteEffect && whole.Records[n-1].Kind == journal.Intent {
					continue // it would wait for a review
				}
				clear(keys)
				j := &journal.Memory{RoundTrip: true, Records: slices.Clone(whole.Records[:n])}
				if res := session(t, p, h, j, runtime.Options{}); res.Status != stop.RunCompleted {
					t.Fatalf("cut at %d: %+v", n, res.StopReason)
				}
				for i := range keys {
					if keys[i] != "" && keys[i] != want[i] {
						t.Errorf("cut at %d: call %d has key %q, not %q", n, i, keys[i], want[i])
					}
				}
			}
		})
	}
}

// TestKeysOfConcurrentCalls makes identical calls in rounds. The calls of a round run
// concurrently and end one after another.
func TestKeysOfConcurrentCalls(t *testing.T) {
	for _, c := range []struct {
		name   string
		rounds []string // u = unknown, o = ok
		keys   string   // as in TestARepeatedCallKeepsItsKey
	}{
		{"the first of two in doubt is repeated", []string{"uu", "o"}, "aba"},
		{"one that succeeded settles the other that was made with its key", []string{"u", "ou", "o"}, "aaad"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := strings.Join(c.rounds, "")
				keys := make([]string, len(all))
				pay := named("pay", funcTool{tool.WriteEffect, func(_ context.Context, call *tool.Call) (*tool.Output, error) {
					i, err := strconv.Atoi(call.Path[strings.LastIndexByte(call.Path, '.')+1:])
					if err != nil {
						return nil, err
					}
					keys[i] = call.Key
					time.Sleep(time.Duration(i+1) * time.Second)
					if all[i] == 'u' {
						return nil, tool.UnknownOutcome(errReset)
					}
					return &tool.Output{Text: "fine"}, nil
				}})
				pay.Spec.OnUnknown = tool.ContinueUnknown
				node := func(s engine.Scope) error {
					at := 0
					for _, round := range c.rounds {
						first := at
						at += len(round)
						if err := s.Parallel(len(round), func(int) string { return "" }, func(i int, s engine.Scope) error {
							_, _, err := s.Tool(fmt.Sprint("tool.", first+i), engine.Invocation{Tool: "pay"})
							return err
						}); err != nil {
							return err
						}
					}
					return nil
				}
				h := engine.Host{Tools: []tool.Binding{pay}}
				if res := session(t, program(map[string]nodeFunc{"a": node}), h, &journal.Memory{}, runtime.Options{}); res.Status != stop.RunCompleted {
					t.Fatalf("%+v", res.StopReason)
				}
				var got strings.Builder
				for _, k := range keys {
					got.WriteByte('a' + byte(slices.Index(keys, k)))
				}
				if got.String() != c.keys {
					t.Errorf("%s, not %s: %q", got.String(), c.keys, keys)
				}
			})
		})
	}
}

// TestCallAfterASkippedWriteReusesTheKey: a human skipped the review of a write, so its
// outcome stays unknown, and the model repeats the call.
func TestCallAfterASkippedWriteReusesTheKey(t *testing.T) {
	var keys []string
	pay := named("pay", funcTool{tool.WriteEffect, func(_ context.Context, call *tool.Call) (*tool.Output, error) {
		if keys = append(keys, call.Key); len(keys) == 1 {
			return nil, tool.UnknownOutcome(errReset)
		}
		return &tool.Output{Text: "fine"}, nil
	}})
	node := func(s engine.Scope) error {
		for i := range 2 {
			if _, _, err := s.Tool(fmt.Sprint("tool.", i), engine.Invocation{Tool: "pay"}); err != nil {
				return err
			}
		}
		return nil
	}
	p, h := program(map[string]nodeFunc{"a": node}), engine.Host{Tools: []tool.Binding{pay}}
	j := &journal.Memory{RoundTrip: true}
	session(t, p, h, j, runtime.Options{})
	res := session(t, p, h, j, runtime.Options{Resolve: map[string]string{"tool.0": "skip"}})
	if res.Status != stop.RunCompleted || len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("%+v %q", res.StopReason, keys)
	}
}

// TestForkReusesTheKeyOfAnUnknownWrite: the write was performed with the key of the
// parent run.
func TestForkReusesTheKeyOfAnUnknownWrite(t *testing.T) {
	var keys []string
	var recs []tool.Record
	pay := named("pay", funcTool{tool.WriteEffect, func(_ context.Context, call *tool.Call) (*tool.Output, error) {
		if keys = append(keys, call.Key); len(keys) == 1 {
			return nil, tool.UnknownOutcome(errReset)
		}
		return &tool.Output{Text: "fine"}, nil
	}})
	p, h := program(map[string]nodeFunc{"a": callTool("pay", 1, false, &recs)}), engine.Host{Tools: []tool.Binding{pay}}
	parent := &journal.Memory{RoundTrip: true}
	checkReview(t, session(t, p, h, parent, runtime.Options{}))
	fork := func(j *journal.Memory, o runtime.Options) *engine.Result {
		o.Journal = j
		o.Recorded = replay.New(parent.Records, replay.Options{Until: 1 << 32})
		return execute(t.Context(), p, engine.Input{RunID: "fork", Parameters: map[string]any{"question": "q"}}, h, o)
	}
	j := &journal.Memory{RoundTrip: true}
	checkReview(t, fork(j, runtime.Options{}))
	res := fork(j, runtime.Options{Resolve: map[string]string{"tool.0": "redo"}})
	if res.Status != stop.RunCompleted || len(keys) != 2 || keys[0] != "r/tool.0" || keys[1] != keys[0] {
		t.Errorf("%+v %q", res.StopReason, keys)
	}
}

// TestForkReusesTheKeyOfARepeatedWrite: the open write of a killed run was a repeat with
// the key of an earlier one.
func TestForkReusesTheKeyOfARepeatedWrite(t *testing.T) {
	var keys []string
	pay := named("pay", funcTool{tool.WriteEffect, func(_ context.Context, call *tool.Call) (*tool.Output, error) {
		if keys = append(keys, call.Key); len(keys) == 1 {
			return nil, tool.UnknownOutcome(errReset)
		}
		return &tool.Output{Text: "fine"}, nil
	}})
	pay.Spec.OnUnknown = tool.ContinueUnknown
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		for i := range 2 {
			if _, _, err := s.Tool(fmt.Sprint("tool.", i), engine.Invocation{Tool: "pay"}); err != nil {
				return err
			}
		}
		return nil
	}})
	h := engine.Host{Tools: []tool.Binding{pay}}
	parent := &journal.Memory{RoundTrip: true}
	session(t, p, h, parent, runtime.Options{})
	begun := slices.IndexFunc(parent.Records, func(r journal.Record) bool { return r.Kind == journal.Intent && r.Path == "tool.1" })
	j := &journal.Memory{RoundTrip: true}
	fork := func(o runtime.Options) *engine.Result {
		o.Journal = j
		o.Recorded = replay.New(parent.Records[:begun+1], replay.Options{Until: 1 << 32})
		return execute(t.Context(), p, engine.Input{RunID: "fork", Parameters: map[string]any{"question": "q"}}, h, o)
	}
	if res := fork(runtime.Options{}); res.StopReason.Code != stop.NeedsReview || len(keys) != 2 {
		t.Fatalf("%+v %q", res.StopReason, keys)
	}
	res := fork(runtime.Options{Resolve: map[string]string{"tool.1": "redo"}})
	if want := []string{"r/tool.0", "r/tool.0", "r/tool.0"}; res.Status != stop.RunCompleted || !slices.Equal(keys, want) {
		t.Errorf("%+v %q", res.StopReason, keys)
	}
}

// TestKeysOfRepeatedCallsOfAgents checks that runs of the same agent within a run share
// keys, but not with another program, whose tool may differ.
func TestKeysOfRepeatedCallsOfAgents(t *testing.T) {
	var keys []string
	pay := named("pay", funcTool{tool.WriteEffect, func(_ context.Context, call *tool.Call) (*tool.Output, error) {
		keys = append(keys, call.Key)
		return nil, tool.UnknownOutcome(errReset)
	}})
	pay.Spec.OnUnknown = tool.ContinueUnknown
	calls := func(s engine.Scope) error {
		_, _, err := s.Tool(fmt.Sprint("tool.", len(keys)), engine.Invocation{Tool: "pay"})
		return err
	}
	inner := program(map[string]nodeFunc{"a": calls})
	inner.Name, inner.Digest = "inner", "sha256:inner"
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		if err := calls(s); err != nil {
			return err
		}
		for _, name := range []string{"first", "second"} {
			if _, err := s.Agent(name, inner, nil); err != nil {
				return err
			}
		}
		return calls(s)
	}})
	p.Agents = []*engine.Program{inner}
	h := engine.Host{Tools: []tool.Binding{pay}}
	h.Nested = func(*engine.Program, map[string]any) (engine.Host, error) {
		return engine.Host{Tools: []tool.Binding{pay}}, nil
	}
	res := session(t, p, h, &journal.Memory{}, runtime.Options{})
	if want := []string{"r/tool.0", "r/first/tool.1", "r/first/tool.1", "r/tool.0"}; res.Status != stop.RunCompleted || !slices.Equal(keys, want) {
		t.Errorf("%+v %q", res.StopReason, keys)
	}
}

// TestUncertainAttemptKeepsTheKey: the rejection of a later attempt does not determine the
// outcome of an earlier one.
func TestUncertainAttemptKeepsTheKey(t *testing.T) {
	for first, want := range map[error]string{tool.UnknownOutcome(errReset): "r/tool.0", errors.New("busy"): "r/tool.1"} {
		var keys []string
		put := named("put", funcTool{tool.IdempotentEffect, func(_ context.Context, call *tool.Call) (*tool.Output, error) {
			switch keys = append(keys, call.Key); len(keys) {
			case 1:
				return nil, first
			case 2:
				return nil, errors.New("no such account")
			}
			return &tool.Output{Text: "fine"}, nil
		}})
		put.Spec.Retry = retry.Policy{MaxAttempts: 2, InitialDelay: time.Nanosecond}
		p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
			for i := range 2 {
				if _, _, err := s.Tool(fmt.Sprint("tool.", i), engine.Invocation{Tool: "put"}); err != nil {
					return err
				}
			}
			return nil
		}})
		res := session(t, p, engine.Host{Tools: []tool.Binding{put}}, &journal.Memory{}, runtime.Options{})
		if res.Status != stop.RunCompleted || !slices.Equal(keys, []string{"r/tool.0", "r/tool.0", want}) {
			t.Errorf("after %v: %+v %q", first, res.StopReason, keys)
		}
	}
}
