package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

// slowly notes the types of events, a second after they come.
type slowly struct{ seen []string }

func (s *slowly) Send(ev engine.Event) {
	time.Sleep(time.Second)
	s.seen = append(s.seen, string(ev.Type))
}

func (s *slowly) Ask(context.Context, engine.Question) (json.RawMessage, error) {
	s.seen = append(s.seen, "asked")
	return json.Marshal(engine.ParseDecision("yes"))
}

// A person who is asked has seen what led to the question: in the middle of a call,
// and before it.
func TestAQuestionWaitsForTheEventsBeforeIt(t *testing.T) {
	asks := fake{engine.WriteEffect, func(ctx context.Context, c *engine.Call) (*engine.ToolOutput, error) {
		d, err := c.Ask(ctx, engine.Question{Question: "Which?"})
		return &engine.ToolOutput{Text: d.Answer()}, err
	}}
	plain := fake{engine.WriteEffect, func(context.Context, *engine.Call) (*engine.ToolOutput, error) {
		return &engine.ToolOutput{Text: "done"}, nil
	}}
	for _, tt := range []struct {
		name     string
		tool     engine.Tool
		approval string
		before   engine.EventType
	}{
		{"in a call", asks, "never", engine.ToolStarted},
		{"before a call", plain, "always", engine.InterruptRaised},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, err := journal.OpenHome(t.TempDir(), journal.Sync)
				if err != nil {
					t.Fatal(err)
				}
				f, err := h.Create("r")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { f.Close(); _ = h.Close() }()
				var recs []engine.ToolRecord
				s := &slowly{}
				bound := named("x", tt.tool)
				bound.Spec.Approval.Source = tt.approval
				res := engine.Run(t.Context(), program(map[string]does{"a": called("x", 1, false, &recs)}), question(),
					engine.Host{Tools: []engine.HostTool{bound}, People: s, Sinks: []engine.Sink{s}}, engine.Options{Journal: f})
				at := slices.Index(s.seen, "asked")
				if res.Status != engine.Completed || at < 1 || s.seen[at-1] != string(tt.before) {
					t.Errorf("%+v: %v", res.StopReason, s.seen)
				}
			})
		})
	}
}
