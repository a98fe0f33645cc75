package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

var errReset = errors.New("connection reset by peer")

// hang is a call that takes longer than its timeout.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("stopped: %w", ctx.Err())
}

// TestTheOutcomeOfACall: what a failure of a call is to the run, by the effect
// of the tool and what the tool says about it.
func TestTheOutcomeOfACall(t *testing.T) {
	plain := func(context.Context) error { return errors.New("exit status 1") }
	unknown := func(context.Context) error { return engine.UnknownOutcome(errReset) }
	down := func(context.Context) error { return engine.Unavailable(engine.UnknownOutcome(errReset)) }
	refused := func(ctx context.Context) error { return engine.Definite(hang(ctx)) }
	const review, goOn = engine.ReviewUnknown, engine.ContinueUnknown
	cases := []struct {
		name      string
		effect    engine.Effect
		onUnknown engine.OnUnknown
		fail      func(context.Context) error
		status    engine.CallStatus // "" = the run waits for a review
	}{
		{"a definite failure of a write", engine.WriteEffect, review, plain, engine.CallError},
		{"a broken connection", engine.WriteEffect, review, unknown, ""},
		{"by default", engine.WriteEffect, "", unknown, ""},
		{"a lost server", engine.WriteEffect, review, down, ""},
		{"a timeout", engine.WriteEffect, review, hang, ""},
		{"a timeout before anything was sent", engine.WriteEffect, review, refused, engine.CallTimedOut},
		{"a broken connection, and the run continues", engine.WriteEffect, goOn, unknown, engine.CallUnknown},
		{"a timeout, and the run continues", engine.WriteEffect, goOn, hang, engine.CallUnknown},
		{"a definite failure, and the run continues", engine.WriteEffect, goOn, plain, engine.CallError},
		{"a tool that reads", engine.ReadEffect, review, unknown, engine.CallError},
		{"a tool that reads, too late", engine.ReadEffect, review, hang, engine.CallTimedOut},
		{"an idempotent tool", engine.IdempotentEffect, review, unknown, engine.CallError},
		{"an idempotent tool, and the run continues", engine.IdempotentEffect, goOn, unknown, engine.CallError},
		{"a tool that does not say what it does", "", review, unknown, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var recs []engine.ToolRecord
				bound := named("pay", fake{c.effect, func(ctx context.Context, _ *engine.Call) (*engine.ToolOutput, error) { return nil, c.fail(ctx) }})
				bound.Spec.OnUnknown, bound.Spec.Timeout = c.onUnknown, time.Minute
				p, h := program(map[string]does{"a": called("pay", 1, false, &recs)}), engine.Host{Tools: []engine.HostTool{bound}}
				j := &journal.Memory{Paranoid: true}
				for range 2 { // and again, from the journal alone
					res := session(t, p, h, j, engine.Options{})
					if c.status == "" {
						reviewed(t, res)
						continue
					}
					warned := slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, "pay is unknown") })
					told := strings.Contains(recs[0].Text(), "may have taken effect") && strings.Contains(recs[0].Text(), "Do not repeat")
					if res.Status != engine.Completed || recs[0].Status != c.status || warned != (c.status == engine.CallUnknown) || told != warned {
						t.Errorf("%+v %+v %q", res.StopReason, recs, res.Warnings)
					}
				}
			})
		})
	}
}

// reviewed checks that a run waits for a decision about its only write, and says why.
func reviewed(t *testing.T, res *engine.Result) {
	t.Helper()
	if res.StopReason.Code != engine.StopNeedsReview || len(res.Interrupts) != 1 {
		t.Fatalf("%+v %+v", res.StopReason, res.Interrupts)
	}
	q := res.Interrupts[0]
	why := strings.Contains(q.Question, "connection reset") || strings.Contains(q.Question, "took longer than 1m0s")
	if q.Kind != engine.AskReview || q.Tool != "pay" || q.Path != "tool.0" || !why {
		t.Errorf("%+v", q)
	}
}

// TestADecisionAboutAnUnknownOutcome: a person decides about a write whose
// connection broke, as about one that a crash left open.
func TestADecisionAboutAnUnknownOutcome(t *testing.T) {
	for _, c := range []struct {
		how    string
		calls  int
		status engine.CallStatus
		text   string
	}{
		{`done:"paid"`, 1, engine.CallOK, "paid"},
		{"skip", 1, engine.CallError, "skipped by a person"},
		{"redo", 2, engine.CallOK, "fine"},
	} {
		t.Run(c.how, func(t *testing.T) {
			var recs []engine.ToolRecord
			var keys []string
			pay := named("pay", fake{engine.WriteEffect, func(_ context.Context, call *engine.Call) (*engine.ToolOutput, error) {
				if keys = append(keys, call.Key); len(keys) == 1 {
					return nil, engine.UnknownOutcome(errReset)
				}
				return &engine.ToolOutput{Text: "fine"}, nil
			}})
			p, h := program(map[string]does{"a": called("pay", 1, false, &recs)}), engine.Host{Tools: []engine.HostTool{pay}}
			j := &journal.Memory{Paranoid: true}
			reviewed(t, session(t, p, h, j, engine.Options{}))
			for range 2 {
				res := session(t, p, h, j, engine.Options{Resolve: map[string]string{"tool.0": c.how}})
				if res.Status != engine.Completed || recs[0].Status != c.status || recs[0].Text() != c.text {
					t.Errorf("%+v %+v", res.StopReason, recs)
				}
			}
			if len(keys) != c.calls || keys[len(keys)-1] != keys[0] {
				t.Errorf("keys %q", keys)
			}
		})
	}
}

// TestARedoneWriteThatIsLostAgainIsAskedAboutAgain, within the session that redid it.
func TestARedoneWriteThatIsLostAgainIsAskedAboutAgain(t *testing.T) {
	calls := 0
	var recs []engine.ToolRecord
	pay := named("pay", fake{engine.WriteEffect, func(context.Context, *engine.Call) (*engine.ToolOutput, error) {
		calls++
		return nil, engine.UnknownOutcome(errReset)
	}})
	p, h := program(map[string]does{"a": called("pay", 1, false, &recs)}), engine.Host{Tools: []engine.HostTool{pay}}
	j := &journal.Memory{Paranoid: true}
	for n := range 3 {
		reviewed(t, session(t, p, h, j, engine.Options{Resolve: map[string]string{"tool.0": "redo"}}))
		if calls != n+1 {
			t.Fatalf("%d calls after session %d", calls, n+1)
		}
	}
}

// TestARepeatedCallKeepsItsKey: of calls one after another, each with the
// arguments of its row, which got the idempotency key of which earlier one.
func TestARepeatedCallKeepsItsKey(t *testing.T) {
	type call struct{ args, does string } // does: u = unknown, f = fails, o = ok
	u, f, o := "u", "f", "o"
	same := `{"n": 1, "m": 2}`
	cases := []struct {
		name   string
		effect engine.Effect
		calls  []call
		keys   string // letter i is that of the call whose key call i has
	}{
		{"a repeated write", engine.WriteEffect, []call{{same, u}, {same, u}, {same, o}}, "aaa"},
		{"arguments written otherwise", engine.WriteEffect, []call{{same, u}, {`{"m":2,"n":1}`, o}}, "aa"},
		{"other arguments", engine.WriteEffect, []call{{same, u}, {`{"n": 2}`, o}}, "ab"},
		{"a call after one that succeeded is a new one", engine.WriteEffect, []call{{same, u}, {same, o}, {same, o}}, "aac"},
		{"a definite failure in between leaves the first in doubt", engine.WriteEffect, []call{{same, u}, {same, f}, {same, o}}, "aaa"},
		{"a definite failure needs no key", engine.WriteEffect, []call{{same, f}, {same, o}}, "ab"},
		{"an idempotent tool relies on its key", engine.IdempotentEffect, []call{{same, u}, {same, o}}, "aa"},
		{"a tool that reads", engine.ReadEffect, []call{{same, u}, {same, o}}, "ab"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := 0
			keys := make([]string, len(c.calls))
			pay := named("pay", fake{c.effect, func(_ context.Context, call *engine.Call) (*engine.ToolOutput, error) {
				keys[at] = call.Key
				switch c.calls[at].does {
				case u:
					return nil, engine.UnknownOutcome(errReset)
				case f:
					return nil, errors.New("no such account")
				}
				return &engine.ToolOutput{Text: "fine"}, nil
			}})
			pay.Spec.OnUnknown = engine.ContinueUnknown
			node := func(s *engine.Scope) error {
				for i, x := range c.calls {
					at = i
					if _, _, err := s.Tool(fmt.Sprint("tool.", i), engine.Invocation{Tool: "pay", Args: json.RawMessage(x.args)}); err != nil {
						return err
					}
				}
				return nil
			}
			p, h := program(map[string]does{"a": node}), engine.Host{Tools: []engine.HostTool{pay}}
			whole := &journal.Memory{Paranoid: true}
			session(t, p, h, whole, engine.Options{})
			var got strings.Builder
			for _, k := range keys {
				got.WriteByte('a' + byte(slices.Index(keys, k)))
			}
			if diff := cmp.Diff(c.keys, got.String()); diff != "" {
				t.Error(diff)
			}
			want := slices.Clone(keys)
			for n := 1; n < len(whole.Records); n++ { // resumed behind any record, a call that is made has the same key
				if c.effect == engine.WriteEffect && whole.Records[n-1].Kind == journal.Intent {
					continue // it would wait for a review
				}
				clear(keys)
				j := &journal.Memory{Paranoid: true, Records: slices.Clone(whole.Records[:n])}
				if res := session(t, p, h, j, engine.Options{}); res.Status != engine.Completed {
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

// TestKeysOfCallsSideBySide: of identical calls in rounds, those of a round side
// by side and ended one after another, which got the key of which.
func TestKeysOfCallsSideBySide(t *testing.T) {
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
				pay := named("pay", fake{engine.WriteEffect, func(_ context.Context, call *engine.Call) (*engine.ToolOutput, error) {
					i, err := strconv.Atoi(call.Path[strings.LastIndexByte(call.Path, '.')+1:])
					if err != nil {
						return nil, err
					}
					keys[i] = call.Key
					time.Sleep(time.Duration(i+1) * time.Second)
					if all[i] == 'u' {
						return nil, engine.UnknownOutcome(errReset)
					}
					return &engine.ToolOutput{Text: "fine"}, nil
				}})
				pay.Spec.OnUnknown = engine.ContinueUnknown
				node := func(s *engine.Scope) error {
					at := 0
					for _, round := range c.rounds {
						first := at
						at += len(round)
						if err := s.Parallel(len(round), func(int) string { return "" }, func(i int, s *engine.Scope) error {
							_, _, err := s.Tool(fmt.Sprint("tool.", first+i), engine.Invocation{Tool: "pay"})
							return err
						}); err != nil {
							return err
						}
					}
					return nil
				}
				h := engine.Host{Tools: []engine.HostTool{pay}}
				if res := session(t, program(map[string]does{"a": node}), h, &journal.Memory{}, engine.Options{}); res.Status != engine.Completed {
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

// TestASkippedWriteKeepsItsKey: a person left it as it is, so nobody knows, and
// the model calls again.
func TestASkippedWriteKeepsItsKey(t *testing.T) {
	var keys []string
	pay := named("pay", fake{engine.WriteEffect, func(_ context.Context, call *engine.Call) (*engine.ToolOutput, error) {
		if keys = append(keys, call.Key); len(keys) == 1 {
			return nil, engine.UnknownOutcome(errReset)
		}
		return &engine.ToolOutput{Text: "fine"}, nil
	}})
	node := func(s *engine.Scope) error {
		for i := range 2 {
			if _, _, err := s.Tool(fmt.Sprint("tool.", i), engine.Invocation{Tool: "pay"}); err != nil {
				return err
			}
		}
		return nil
	}
	p, h := program(map[string]does{"a": node}), engine.Host{Tools: []engine.HostTool{pay}}
	j := &journal.Memory{Paranoid: true}
	session(t, p, h, j, engine.Options{})
	res := session(t, p, h, j, engine.Options{Resolve: map[string]string{"tool.0": "skip"}})
	if res.Status != engine.Completed || len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("%+v %q", res.StopReason, keys)
	}
}

// bank books payments; the outcomes of calls get lost on their way.
type bank struct {
	rand   *rand.Rand
	honors bool // Idempotency-Key
	booked map[string]int
	seen   map[string]bool
	calls  int
}

func (b *bank) pay(ctx context.Context, call *engine.Call) (*engine.ToolOutput, error) {
	b.calls++
	if !b.honors || !b.seen[call.Key] {
		switch b.rand.IntN(6) {
		case 0:
			return nil, errors.New("422 the account is busy") // definite: nothing was booked
		case 1:
			return nil, engine.Unavailable(engine.UnknownOutcome(errors.New("the server died before it booked")))
		}
		b.booked[string(call.Args)]++
		b.seen[call.Key] = true
	}
	switch b.rand.IntN(5) {
	case 0:
		return nil, engine.UnknownOutcome(errReset)
	case 1:
		return nil, hang(ctx)
	case 2:
		return nil, engine.Unavailable(engine.UnknownOutcome(errors.New("the server was lost")))
	}
	return &engine.ToolOutput{Text: "paid"}, nil
}

// TestNoWriteIsMadeTwice makes 200 payments by a model that repeats each until it
// is told that it succeeded, while outcomes are lost at random.
func TestNoWriteIsMadeTwice(t *testing.T) {
	const payments = 200
	for _, on := range []engine.OnUnknown{engine.ReviewUnknown, engine.ContinueUnknown} {
		t.Run(string(on), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bank{rand: rand.New(rand.NewPCG(1, 2)), honors: on == engine.ContinueUnknown, booked: map[string]int{}, seen: map[string]bool{}}
				bound := named("pay", fake{engine.WriteEffect, b.pay})
				bound.Spec.OnUnknown = on
				p, h := program(map[string]does{"a": insistent(payments)}), engine.Host{Tools: []engine.HostTool{bound}}
				j, o, reviews := &journal.Memory{Paranoid: true}, engine.Options{}, 0
				res := session(t, p, h, j, o)
				for ; res.StopReason.Code == engine.StopNeedsReview; reviews++ {
					o.Resolve = map[string]string{}
					for _, q := range res.Interrupts { // a person who looks into the bank's book
						if o.Resolve[q.Path] = "redo"; b.booked[string(q.Args)] > 0 {
							o.Resolve[q.Path] = `done:"paid"`
						}
					}
					res = session(t, p, h, j, o)
				}
				if res.Status != engine.Completed || len(b.booked) != payments || (reviews > 50) != (on == engine.ReviewUnknown) || b.calls < payments*5/4 {
					t.Errorf("%+v: %d payments, %d calls, %d reviews", res.StopReason, len(b.booked), b.calls, reviews)
				}
				for args, n := range b.booked {
					if n != 1 {
						t.Errorf("%s was paid %d times", args, n)
					}
				}
			})
		})
	}
}

// insistent is a model that makes each payment until it succeeds.
func insistent(payments int) does {
	return func(s *engine.Scope) error {
		for i := range payments {
			for n := 1; ; n++ {
				args := fmt.Appendf(nil, `{"n":%d}`, i)
				rec, _, err := s.Tool(fmt.Sprintf("pay.%d.%d", i, n), engine.Invocation{Tool: "pay", Args: args})
				if err != nil {
					return err
				}
				if rec.Status == engine.CallOK {
					break
				}
				if err := s.Sleep(fmt.Sprintf("pause.%d.%d", i, n), time.Minute); err != nil { // longer than the breaker's
					return err
				}
			}
		}
		return nil
	}
}

// TestAForkKeepsTheKeyOfAnUnknownWrite: the write was performed with the key of
// the run that the fork came from.
func TestAForkKeepsTheKeyOfAnUnknownWrite(t *testing.T) {
	var keys []string
	var recs []engine.ToolRecord
	pay := named("pay", fake{engine.WriteEffect, func(_ context.Context, call *engine.Call) (*engine.ToolOutput, error) {
		if keys = append(keys, call.Key); len(keys) == 1 {
			return nil, engine.UnknownOutcome(errReset)
		}
		return &engine.ToolOutput{Text: "fine"}, nil
	}})
	p, h := program(map[string]does{"a": called("pay", 1, false, &recs)}), engine.Host{Tools: []engine.HostTool{pay}}
	parent := &journal.Memory{Paranoid: true}
	reviewed(t, session(t, p, h, parent, engine.Options{}))
	fork := func(j *journal.Memory, o engine.Options) *engine.Result {
		o.Journal = j
		o.Recorded = engine.NewRecording(parent.Records, engine.RecordingOptions{Until: 1 << 32})
		return engine.Run(t.Context(), p, engine.Input{RunID: "fork", Parameters: map[string]any{"question": "q"}}, h, o)
	}
	j := &journal.Memory{Paranoid: true}
	reviewed(t, fork(j, engine.Options{}))
	res := fork(j, engine.Options{Resolve: map[string]string{"tool.0": "redo"}})
	if res.Status != engine.Completed || len(keys) != 2 || keys[0] != "r/tool.0" || keys[1] != keys[0] {
		t.Errorf("%+v %q", res.StopReason, keys)
	}
}

// TestAForkKeepsTheKeyOfARepeatedWrite: the write that a killed run left open
// repeated an earlier one, with the key of that one.
func TestAForkKeepsTheKeyOfARepeatedWrite(t *testing.T) {
	var keys []string
	pay := named("pay", fake{engine.WriteEffect, func(_ context.Context, call *engine.Call) (*engine.ToolOutput, error) {
		if keys = append(keys, call.Key); len(keys) == 1 {
			return nil, engine.UnknownOutcome(errReset)
		}
		return &engine.ToolOutput{Text: "fine"}, nil
	}})
	pay.Spec.OnUnknown = engine.ContinueUnknown
	p := program(map[string]does{"a": func(s *engine.Scope) error {
		for i := range 2 {
			if _, _, err := s.Tool(fmt.Sprint("tool.", i), engine.Invocation{Tool: "pay"}); err != nil {
				return err
			}
		}
		return nil
	}})
	h := engine.Host{Tools: []engine.HostTool{pay}}
	parent := &journal.Memory{Paranoid: true}
	session(t, p, h, parent, engine.Options{})
	begun := slices.IndexFunc(parent.Records, func(r journal.Record) bool { return r.Kind == journal.Intent && r.Path == "tool.1" })
	j := &journal.Memory{Paranoid: true}
	fork := func(o engine.Options) *engine.Result {
		o.Journal = j
		o.Recorded = engine.NewRecording(parent.Records[:begun+1], engine.RecordingOptions{Until: 1 << 32})
		return engine.Run(t.Context(), p, engine.Input{RunID: "fork", Parameters: map[string]any{"question": "q"}}, h, o)
	}
	if res := fork(engine.Options{}); res.StopReason.Code != engine.StopNeedsReview || len(keys) != 2 {
		t.Fatalf("%+v %q", res.StopReason, keys)
	}
	res := fork(engine.Options{Resolve: map[string]string{"tool.1": "redo"}})
	if want := []string{"r/tool.0", "r/tool.0", "r/tool.0"}; res.Status != engine.Completed || !slices.Equal(keys, want) {
		t.Errorf("%+v %q", res.StopReason, keys)
	}
}

// TestKeysOfRepeatedCallsOfAgents: the calls of an agent's runs within a run are
// known to each other, but not to those of another program, whose tool may do
// something else.
func TestKeysOfRepeatedCallsOfAgents(t *testing.T) {
	var keys []string
	pay := named("pay", fake{engine.WriteEffect, func(_ context.Context, call *engine.Call) (*engine.ToolOutput, error) {
		keys = append(keys, call.Key)
		return nil, engine.UnknownOutcome(errReset)
	}})
	pay.Spec.OnUnknown = engine.ContinueUnknown
	calls := func(s *engine.Scope) error {
		_, _, err := s.Tool(fmt.Sprint("tool.", len(keys)), engine.Invocation{Tool: "pay"})
		return err
	}
	inner := program(map[string]does{"a": calls})
	inner.Name, inner.Digest = "inner", "sha256:inner"
	p := program(map[string]does{"a": func(s *engine.Scope) error {
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
	h := engine.Host{Tools: []engine.HostTool{pay}}
	h.Nested = func(*engine.Program, map[string]any) (engine.Host, error) {
		return engine.Host{Tools: []engine.HostTool{pay}}, nil
	}
	res := session(t, p, h, &journal.Memory{}, engine.Options{})
	if want := []string{"r/tool.0", "r/first/tool.1", "r/first/tool.1", "r/tool.0"}; res.Status != engine.Completed || !slices.Equal(keys, want) {
		t.Errorf("%+v %q", res.StopReason, keys)
	}
}

// TestAnAttemptInDoubtKeepsTheKey: a later attempt that is refused says nothing
// of the one before it.
func TestAnAttemptInDoubtKeepsTheKey(t *testing.T) {
	for first, want := range map[error]string{engine.UnknownOutcome(errReset): "r/tool.0", errors.New("busy"): "r/tool.1"} {
		var keys []string
		put := named("put", fake{engine.IdempotentEffect, func(_ context.Context, call *engine.Call) (*engine.ToolOutput, error) {
			switch keys = append(keys, call.Key); len(keys) {
			case 1:
				return nil, first
			case 2:
				return nil, errors.New("no such account")
			}
			return &engine.ToolOutput{Text: "fine"}, nil
		}})
		put.Spec.Retry = engine.RetryPolicy{MaxAttempts: 2, InitialDelay: time.Nanosecond}
		p := program(map[string]does{"a": func(s *engine.Scope) error {
			for i := range 2 {
				if _, _, err := s.Tool(fmt.Sprint("tool.", i), engine.Invocation{Tool: "put"}); err != nil {
					return err
				}
			}
			return nil
		}})
		res := session(t, p, engine.Host{Tools: []engine.HostTool{put}}, &journal.Memory{}, engine.Options{})
		if res.Status != engine.Completed || !slices.Equal(keys, []string{"r/tool.0", "r/tool.0", want}) {
			t.Errorf("after %v: %+v %q", first, res.StopReason, keys)
		}
	}
}
