package sink_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/builtins/tty/ttytest"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/plan"
)

// replayer is a sink that passes all events to Recall, as if they were from an earlier
// session that started at an earlier time.
type replayer struct {
	to engine.ReplaySink
	at time.Duration
}

func (p *replayer) Send(ev engine.Event) {
	ev.At = ev.At.Add(p.at)
	p.to.Replay(ev)
}

// firstHalf sends a run up to the middle of its second step.
func firstHalf(s story) {
	s.start("?")
	s.asks("plan.1/model", "planner", "")
	s.answered("plan.1/model", "", 500)
	s.plan(1, "one", "two", "three")
	s.step("s1", "one")
	s.toolDone("s1", "pencil", `{"text":"a"}`, "ok", "")
	s.stepDone("s1", plan.OK, "first", "")
	s.step("s2", "two")
	s.asks("s2/1", "executor", "s2")
}

func TestTreeOfAResumedRunShowsEarlierSessions(t *testing.T) {
	s := ttytest.New(t, 60, 24)
	tree, c := newTree(s)
	c.at = startTime.Add(26 * time.Hour) // the run was suspended for a day
	firstHalf(story{&replayer{tree, 4 * time.Second}})
	if s.String() != "" {
		t.Fatalf("drawn before anything new happened:\n%s", s)
	}
	c.at = c.at.Add(2 * time.Second)
	tree.Tick()
	wantScreen(t, s, `
demo  plan v1 · 1/3 steps · 500 tok · 2.0s
  ✓ s1 one  1 tool · 1.5s
      first
  ◓ s2 two  2.0s
      ◓ executor is thinking
  ○ s3 three
`)
	story{tree}.stepDone("s2", plan.OK, "second", "")
	if !strings.Contains(s.String(), "2/3 steps") {
		t.Error(s)
	}
}

func TestTreeWithOnlyReplayedEventsStaysOnScreen(t *testing.T) {
	s := ttytest.New(t, 60, 24)
	tree, _ := newTree(s)
	firstHalf(story{&replayer{to: tree}})
	tree.Close()
	if !strings.Contains(s.String(), "✓ s1 one") {
		t.Errorf("screen:\n%s", s)
	}
}

func TestLinesOfAResumedRunSummarizeEarlierSessionsOnce(t *testing.T) {
	tests := []struct {
		name   string
		before func(story)
		want   string
	}{
		{"in a step", firstHalf, "resumed: 1 of 3 steps done\ns2 ok (1.5s, 0 tokens)\ns3 ok (1.5s, 0 tokens)\n"},
		{"before a plan", func(s story) { s.start("?") }, "resumed: no plan yet\ns2 ok (1.5s, 0 tokens)\ns3 ok (1.5s, 0 tokens)\n"},
		{"a run that is new", func(story) {}, "s2 ok (1.5s, 0 tokens)\ns3 ok (1.5s, 0 tokens)\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			l := sink.NewLines(&b)
			tt.before(story{&replayer{to: l}})
			story{l}.stepDone("s2", plan.OK, "", "")
			story{l}.stepDone("s3", plan.OK, "", "")
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
