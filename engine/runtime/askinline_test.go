package runtime_test

import (
	"context"
	"encoding/json"
	"slices"
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

// slowSink records the types of events and takes a second for each.
type slowSink struct{ seen []string }

func (s *slowSink) Send(ev engine.Event) {
	time.Sleep(time.Second)
	s.seen = append(s.seen, string(ev.Type))
}

func (s *slowSink) Ask(context.Context, interrupt.Question) (json.RawMessage, error) {
	s.seen = append(s.seen, "asked")
	return json.Marshal(interrupt.Parse("yes"))
}

// When a human is asked, during a call or before it, the sinks have received all earlier
// events.
func TestQuestionIsAskedAfterEarlierEvents(t *testing.T) {
	asks := funcTool{tool.WriteEffect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		d, err := c.Ask(ctx, interrupt.Question{Question: "Which?"})
		return &tool.Output{Text: d.Answer()}, err
	}}
	plain := funcTool{tool.WriteEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
		return &tool.Output{Text: "done"}, nil
	}}
	for _, tt := range []struct {
		name     string
		tool     tool.Tool
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
				var recs []tool.Record
				s := &slowSink{}
				bound := named("x", tt.tool)
				bound.Spec.Approval.Source = tt.approval
				res := execute(t.Context(), program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)}), question(),
					engine.Host{Tools: []tool.Binding{bound}, Responder: s, Sinks: []engine.Sink{s}}, runtime.Options{Journal: f})
				at := slices.Index(s.seen, "asked")
				if res.Status != stop.RunCompleted || at < 1 || s.seen[at-1] != string(tt.before) {
					t.Errorf("%+v: %v", res.StopReason, s.seen)
				}
			})
		})
	}
}
