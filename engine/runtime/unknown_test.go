package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

var errReset = errors.New("connection reset by peer")

// hang blocks until the timeout of the call.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("stopped: %w", ctx.Err())
}

// TestOutcomeOfAFailedCall checks the status of a failed call by the effect of the tool
// and the marking of the error.
func TestOutcomeOfAFailedCall(t *testing.T) {
	plain := func(context.Context) error { return errors.New("exit status 1") }
	unknown := func(context.Context) error { return tool.UnknownOutcome(errReset) }
	down := func(context.Context) error { return tool.Unavailable(tool.UnknownOutcome(errReset)) }
	refused := func(ctx context.Context) error { return tool.Definite(hang(ctx)) }
	const review, goOn = tool.ReviewUnknown, tool.ContinueUnknown
	cases := []struct {
		name      string
		effect    tool.Effect
		onUnknown tool.OnUnknown
		fail      func(context.Context) error
		status    tool.CallStatus // "" = the run waits for a review
	}{
		{"a definite failure of a write", tool.WriteEffect, review, plain, tool.CallError},
		{"a broken connection", tool.WriteEffect, review, unknown, ""},
		{"by default", tool.WriteEffect, "", unknown, ""},
		{"a lost server", tool.WriteEffect, review, down, ""},
		{"a timeout", tool.WriteEffect, review, hang, ""},
		{"a timeout before anything was sent", tool.WriteEffect, review, refused, tool.CallTimedOut},
		{"a broken connection, and the run continues", tool.WriteEffect, goOn, unknown, tool.CallUnknown},
		{"a timeout, and the run continues", tool.WriteEffect, goOn, hang, tool.CallUnknown},
		{"a definite failure, and the run continues", tool.WriteEffect, goOn, plain, tool.CallError},
		{"a tool that reads", tool.ReadEffect, review, unknown, tool.CallError},
		{"a tool that reads, too late", tool.ReadEffect, review, hang, tool.CallTimedOut},
		{"an idempotent tool", tool.IdempotentEffect, review, unknown, tool.CallError},
		{"an idempotent tool, and the run continues", tool.IdempotentEffect, goOn, unknown, tool.CallError},
		{"a tool that does not say what it does", "", review, unknown, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var recs []tool.Record
				bound := named("pay", funcTool{c.effect, func(ctx context.Context, _ *tool.Call) (*tool.Output, error) { return nil, c.fail(ctx) }})
				bound.Spec.OnUnknown, bound.Spec.Timeout = c.onUnknown, time.Minute
				p, h := program(map[string]nodeFunc{"a": callTool("pay", 1, false, &recs)}), engine.Host{Tools: []tool.Binding{bound}}
				j := &journal.Memory{RoundTrip: true}
				for range 2 { // and again, from the journal alone
					res := session(t, p, h, j, runtime.Options{})
					if c.status == "" {
						checkReview(t, res)
						continue
					}
					warned := slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, "pay is unknown") })
					told := strings.Contains(recs[0].Text(), "may have taken effect") && strings.Contains(recs[0].Text(), "Do not repeat")
					if res.Status != stop.RunCompleted || recs[0].Status != c.status || warned != (c.status == tool.CallUnknown) || told != warned {
						t.Errorf("%+v %+v %q", res.StopReason, recs, res.Warnings)
					}
				}
			})
		})
	}
}

// checkReview checks that a run waits for a review of its only write.
func checkReview(t *testing.T, res *engine.Result) {
	t.Helper()
	if res.StopReason.Code != stop.NeedsReview || len(res.Interrupts) != 1 {
		t.Fatalf("%+v %+v", res.StopReason, res.Interrupts)
	}
	q := res.Interrupts[0]
	why := strings.Contains(q.Question, "connection reset") || strings.Contains(q.Question, "timed out after 1m0s")
	if q.Kind != interrupt.Review || q.Tool != "pay" || q.Path != "tool.0" || !why {
		t.Errorf("%+v", q)
	}
}

// TestDecisionAboutAnUnknownOutcome checks that a human can decide about a write whose
// connection broke, as after a crash.
func TestDecisionAboutAnUnknownOutcome(t *testing.T) {
	for _, c := range []struct {
		how    string
		calls  int
		status tool.CallStatus
		text   string
	}{
		{`done:"paid"`, 1, tool.CallOK, "paid"},
		{"skip", 1, tool.CallError, "skipped by a person"},
		{"redo", 2, tool.CallOK, "fine"},
	} {
		t.Run(c.how, func(t *testing.T) {
			var recs []tool.Record
			var keys []string
			pay := named("pay", funcTool{tool.WriteEffect, func(_ context.Context, call *tool.Call) (*tool.Output, error) {
				if keys = append(keys, call.Key); len(keys) == 1 {
					return nil, tool.UnknownOutcome(errReset)
				}
				return &tool.Output{Text: "fine"}, nil
			}})
			p, h := program(map[string]nodeFunc{"a": callTool("pay", 1, false, &recs)}), engine.Host{Tools: []tool.Binding{pay}}
			j := &journal.Memory{RoundTrip: true}
			checkReview(t, session(t, p, h, j, runtime.Options{}))
			for range 2 {
				res := session(t, p, h, j, runtime.Options{Resolve: map[string]string{"tool.0": c.how}})
				if res.Status != stop.RunCompleted || recs[0].Status != c.status || recs[0].Text() != c.text {
					t.Errorf("%+v %+v", res.StopReason, recs)
				}
			}
			if len(keys) != c.calls || keys[len(keys)-1] != keys[0] {
				t.Errorf("keys %q", keys)
			}
		})
	}
}

// A redone write whose outcome is unknown again needs another review in the same session.
func TestRedoneWriteWithUnknownOutcomeIsReviewedAgain(t *testing.T) {
	calls := 0
	var recs []tool.Record
	pay := named("pay", funcTool{tool.WriteEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
		calls++
		return nil, tool.UnknownOutcome(errReset)
	}})
	p, h := program(map[string]nodeFunc{"a": callTool("pay", 1, false, &recs)}), engine.Host{Tools: []tool.Binding{pay}}
	j := &journal.Memory{RoundTrip: true}
	for n := range 3 {
		checkReview(t, session(t, p, h, j, runtime.Options{Resolve: map[string]string{"tool.0": "redo"}}))
		if calls != n+1 {
			t.Fatalf("%d calls after session %d", calls, n+1)
		}
	}
}

// bank books payments. The outcomes of some calls are lost.
type bank struct {
	rand   *rand.Rand
	honors bool // Idempotency-Key
	booked map[string]int
	seen   map[string]bool
	calls  int
}

func (b *bank) pay(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	b.calls++
	if !b.honors || !b.seen[call.Key] {
		switch b.rand.IntN(6) {
		case 0:
			return nil, errors.New("422 the account is busy") // definite: nothing was booked
		case 1:
			return nil, tool.Unavailable(tool.UnknownOutcome(errors.New("the server died before it booked")))
		}
		b.booked[string(call.Args)]++
		b.seen[call.Key] = true
	}
	switch b.rand.IntN(5) {
	case 0:
		return nil, tool.UnknownOutcome(errReset)
	case 1:
		return nil, hang(ctx)
	case 2:
		return nil, tool.Unavailable(tool.UnknownOutcome(errors.New("the server was lost")))
	}
	return &tool.Output{Text: "paid"}, nil
}

// TestNoWriteIsRepeated makes 200 payments. The model repeats each until it succeeds, and
// outcomes are lost at random.
func TestNoWriteIsRepeated(t *testing.T) {
	const payments = 200
	for _, on := range []tool.OnUnknown{tool.ReviewUnknown, tool.ContinueUnknown} {
		t.Run(string(on), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &bank{rand: rand.New(rand.NewPCG(1, 2)), honors: on == tool.ContinueUnknown, booked: map[string]int{}, seen: map[string]bool{}}
				bound := named("pay", funcTool{tool.WriteEffect, b.pay})
				bound.Spec.OnUnknown = on
				p, h := program(map[string]nodeFunc{"a": payUntilConfirmed(payments)}), engine.Host{Tools: []tool.Binding{bound}}
				j, o, reviews := &journal.Memory{RoundTrip: true}, runtime.Options{}, 0
				res := session(t, p, h, j, o)
				for ; res.StopReason.Code == stop.NeedsReview; reviews++ {
					o.Resolve = map[string]string{}
					for _, q := range res.Interrupts { // a human who checks the bank's records
						if o.Resolve[q.Path] = "redo"; b.booked[string(q.Args)] > 0 {
							o.Resolve[q.Path] = `done:"paid"`
						}
					}
					res = session(t, p, h, j, o)
				}
				if res.Status != stop.RunCompleted || len(b.booked) != payments || (reviews > 50) != (on == tool.ReviewUnknown) || b.calls < payments*5/4 {
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

// payUntilConfirmed returns a node that repeats each payment until it succeeds.
func payUntilConfirmed(payments int) nodeFunc {
	return func(s engine.Scope) error {
		for i := range payments {
			for n := 1; ; n++ {
				args := fmt.Appendf(nil, `{"n":%d}`, i)
				rec, _, err := s.Tool(fmt.Sprintf("pay.%d.%d", i, n), engine.Invocation{Tool: "pay", Args: args})
				if err != nil {
					return err
				}
				if rec.Status == tool.CallOK {
					break
				}
				if err := s.Sleep(fmt.Sprintf("pause.%d.%d", i, n), time.Minute); err != nil { // longer than the breaker's cooldown
					return err
				}
			}
		}
		return nil
	}
}
