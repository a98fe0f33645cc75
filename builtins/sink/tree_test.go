package sink_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/builtins/tty/ttytest"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// clock is a clock that is set manually.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newTree(s *ttytest.Screen) (*sink.Tree, *clock) {
	c := &clock{startTime}
	return sink.NewTree(s, s.Size, c.now, true), c
}

// gap matches the space between a text and the right-aligned metrics.
var gap = regexp.MustCompile(`(\S) {2,}(\S)`)

// wantScreen compares the text on the screen, ignoring alignment.
func wantScreen(t *testing.T, s *ttytest.Screen, want string) {
	t.Helper()
	got := gap.ReplaceAllString(s.String(), "$1  $2")
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}

func TestTreeShowsTheProgressOfARun(t *testing.T) {
	s := ttytest.New(t, 60, 24)
	tree, c := newTree(s)
	run := story{tree}
	run.start("?")
	run.asks("plan.1/model", "planner", "")
	run.says("plan.1/model", `{"steps": [`)
	tree.Tick()
	wantScreen(t, s, `
demo  0ms
  ◓ planner is planning
`)
	run.says("plan.1/model", `{"goal": "Read the log", "tools": ["read_file"]}, {"goal": "Sum`)
	tree.Tick()
	wantScreen(t, s, `
demo  0ms
  ◑ planner is planning
  ○ Read the log
  ○ Sum
`)
	run.answered("plan.1/model", "", 500)
	run.plan(1, "Read the log", "Sum it up", "Write")
	run.step("s1", "Read the log")
	run.step("s2", "Sum it up")
	run.tool("s1", "read_file", `{"path":"a.log"}`)
	run.asks("s2/1", "executor", "s2")
	c.at = c.at.Add(2 * time.Second)
	tree.Tick()
	wantScreen(t, s, `
demo  plan v1 · 0/3 steps · 500 tok · 2.0s
  ◒ s1 Read the log  2.0s
      ◒ read_file a.log
  ◒ s2 Sum it up  2.0s
      ◒ executor is thinking
  ○ s3 Write
`)
	run.toolDone("s1", "read_file", `{"path":"a.log"}`, "error", "no such file")
	run.stepDone("s2", plan.OK, "It is 42.", "")
	wantScreen(t, s, `
demo  plan v1 · 1/3 steps · 500 tok · 2.0s
  ◒ s1 Read the log  2.0s
      ✗ read_file a.log: no such file  error
  ✓ s2 Sum it up  1.5s
      It is 42.
  ○ s3 Write
`)
}

func TestTreeLeavesTheWholePictureOnScreen(t *testing.T) {
	s := ttytest.New(t, 90, 24)
	tree, _ := newTree(s)
	story{tree}.whole()
	tree.Tick()
	tree.Close()
	wantScreen(t, s, `
warning: a reply was mended
guard "enough" (stop): that will do
limit reached: 2 of 2 steps are done (limits.max_steps)
demo  plan v1 · 2/2 steps · 1.2k tok · $0.0012 · 0ms
  ✓ s1 Multiply  1 tool · 300 tok · 1.5s
      It is 42.
  ✗ s2 Write it down  1 tool · 1.5s
      nothing to write with
2.5s, 4 model calls, 1 tool call, 1.2k tokens, $0.0012

`)
}

func TestTreeOfALongPlanFollowsTheWork(t *testing.T) {
	s := ttytest.New(t, 40, 8)
	tree, _ := newTree(s)
	run := story{tree}
	run.start("?")
	var goals []string
	for i := range 30 {
		goals = append(goals, fmt.Sprint("goal ", i+1))
	}
	run.plan(1, goals...)
	for i := range 20 {
		id := fmt.Sprint("s", i+1)
		run.step(id, goals[i])
		if i < 19 {
			run.stepDone(id, plan.OK, "done", "")
		}
	}
	wantScreen(t, s, `
demo  plan v1 · 19/30 steps · 0ms
  … 16 lines above, 9 below
  ✓ s17 goal 17  1.5s
  ✓ s18 goal 18  1.5s
  ✓ s19 goal 19  1.5s
  ◐ s20 goal 20  0ms
  ○ s21 goal 21
`)
	run.end(stop.RunCompleted, stop.Answered)
	if got := strings.Count(s.String(), "goal"); got != 30 {
		t.Errorf("%d of 30 steps are shown at the end:\n%s", got, s)
	}
}

func TestTreeRedrawsAfterTheWindowBecameNarrow(t *testing.T) {
	s := ttytest.New(t, 80, 24)
	fmt.Fprintln(s, "$ pexctl run")
	tree, _ := newTree(s)
	run := story{tree}
	run.start("?")
	run.plan(1, strings.Repeat("word ", 30), "b")
	s.Narrow(40)
	tree.Tick()
	wantScreen(t, s, `
$ pexctl run
demo  plan v1 · 0/2 steps · 0ms
  ○ s1 word word word word word word…
  ○ s2 b
`)
}

func TestTreeNeverWrapsALine(t *testing.T) {
	for _, columns := range []int{1, 10, 20, 21, 40, 60, 80, 200} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			s := ttytest.New(t, columns, 50)
			tree, _ := newTree(s)
			run := story{tree}
			run.start("?")
			run.plan(1, strings.Repeat("日本語 ✅ é́ ", 30), strings.Repeat("x", 300))
			run.step("s1", "日本語")
			run.asks("m", "executor", "s1")
			run.says("m", strings.Repeat("☕ and ", 100))
			run.tool("s1", strings.Repeat("tool", 30), `{"a":"`+strings.Repeat("b", 300)+`"}`)
			tree.Tick()
			tree.Tick()
			if s.Height() != 5 {
				t.Errorf("%d lines:\n%s", s.Height(), s)
			}
		})
	}
}

func TestTreeEscapesControlSequences(t *testing.T) {
	s := ttytest.New(t, 60, 24) // fails on control characters
	tree, _ := newTree(s)
	hostile(story{tree})
	tree.Note("x\x1b[5m\r")
}

func TestTreeWithoutColorHasNone(t *testing.T) {
	var b strings.Builder
	tree := sink.NewTree(&b, func() (int, int) { return 60, 24 }, (&clock{startTime}).now, false)
	story{tree}.whole()
	if strings.Contains(b.String(), "m"+"\x1b") || strings.Contains(b.String(), "\x1b[0m") || strings.Contains(b.String(), "\x1b[2m") {
		t.Errorf("%q", b.String())
	}
}

func TestTreeStaysAboveAQuestion(t *testing.T) {
	s := ttytest.New(t, 60, 24)
	tree, _ := newTree(s)
	run := story{tree}
	run.start("?")
	run.plan(1, "one")
	tree.Pause(func() {
		fmt.Fprint(s, "may I? yes\n")
		run.step("s1", "one") // the run continues meanwhile
		tree.Tick()
		tree.Note("suspending")
		tree.Tick()
	})
	wantScreen(t, s, `
demo  plan v1 · 0/1 steps · 0ms
  ○ s1 one
may I? yes

suspending
demo  plan v1 · 0/1 steps · 0ms
  ◑ s1 one  0ms
`)
}

func TestTreeRemovesFailedCalls(t *testing.T) {
	s := ttytest.New(t, 60, 24)
	tree, _ := newTree(s)
	run := story{tree}
	run.start("?")
	run.plan(1, "one", "two")
	run.step("s1", "one")
	run.asks("s1/1", "executor", "s1")
	run.stepDone("s1", plan.Failed, "", "the provider is down")
	run.step("s2", "two")
	if strings.Contains(s.String(), "thinking") {
		t.Error(s)
	}
	tree.Close()
	tree.Tick()
	story{tree}.end(stop.RunFailed, stop.ProviderError)
	if strings.Contains(s.String(), "in 2.5s") {
		t.Errorf("drawn after Close:\n%s", s)
	}
}

func TestTreeAlignsMetricsRight(t *testing.T) {
	s := ttytest.New(t, 50, 24)
	tree, c := newTree(s)
	run := story{tree}
	run.start("?")
	run.plan(1, "short", strings.Repeat("long ", 30))
	run.step("s1", "short")
	run.step("s2", "long")
	c.at = c.at.Add(time.Minute)
	tree.Tick()
	for line := range strings.Lines(s.String()) {
		if n := len([]rune(strings.TrimSpace(line))) + len(line) - len(strings.TrimLeft(line, " ")); n != 49 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestTreeShowsTheRevisionOfAPlanAndTheAnswerAsText(t *testing.T) {
	s := ttytest.New(t, 60, 24)
	tree, _ := newTree(s)
	run := story{tree}
	run.start("?")
	run.plan(1, "Read the log")
	run.asks("reflect.1/model", "reflector", "")
	for _, each := range []struct{ said, want string }{
		{"```json\n{\"steps\": [", "reflector is writing"},
		{`"Sum it up", "Write`, "reflector is planning step 2: Write"},
		{`"], "result": "It is `, "reflector: It is"},
	} {
		run.says("reflect.1/model", each.said)
		tree.Tick()
		if !strings.Contains(s.String(), each.want) || strings.Contains(s.String(), "{") {
			t.Errorf("after %q:\n%s", each.said, s)
		}
	}
	run.answered("reflect.1/model", "", 1)
	run.asks("final/model", "finalizer", "")
	run.says("final/model", `{"total": 12`)
	tree.Tick()
	if !strings.Contains(s.String(), "finalizer is writing") || strings.Contains(s.String(), "total") {
		t.Error(s)
	}
}

func TestTreeShowsRetriesWithTheirCalls(t *testing.T) {
	s := ttytest.New(t, 80, 24)
	tree, c := newTree(s)
	run := story{tree}
	run.start("?")
	run.plan(1, "one")
	run.step("s1", "one")
	run.asks("s1/1", "executor", "s1")
	run.tool("s1", "look", `{"at":"b"}`)
	wait := &model.RetryEvent{Attempt: 2, MaxAttempts: 3, Wait: 4000, Error: "rate_limit (HTTP 429)"}
	run.send(engine.Event{Type: engine.ModelRetrying, Path: "s1/1", Retry: wait})
	run.send(engine.Event{Type: engine.ToolRetrying, Path: "s1/look", Tool: "look", Retry: wait})
	c.at = c.at.Add(time.Second)
	tree.Tick()
	wantScreen(t, s, `
demo  plan v1 · 0/1 steps · 1.0s
  ◓ s1 one  1.0s
      ◓ look b: retrying 2/3 in 3.0s: rate_limit (HTTP 429)
      ◓ executor: retrying 2/3 in 3.0s: rate_limit (HTTP 429)
`)
	c.at = c.at.Add(5 * time.Second)
	tree.Tick()
	run.toolDone("s1", "look", `{"at":"b"}`, "ok", "")
	wantScreen(t, s, `
demo  plan v1 · 0/1 steps · 6.0s
  ◑ s1 one  6.0s
      ✓ look b  12ms
      ◑ executor: attempt 2/3 after rate_limit (HTTP 429)
`)
	run.says("s1/1", "It is")
	tree.Tick()
	if !strings.Contains(s.String(), "executor: It is") {
		t.Error(s)
	}
}

func TestTreeNotesTheRetriesOfSubAgents(t *testing.T) {
	s := ttytest.New(t, 80, 24)
	tree, _ := newTree(s)
	run := story{tree}
	run.start("?")
	run.send(engine.Event{Type: engine.ModelRetrying, Path: "s1/a/1", Agent: "s1/a", Model: "main", Retry: &model.RetryEvent{Attempt: 2, MaxAttempts: 3, Wait: 4000, Error: "overloaded"}})
	wantScreen(t, s, `
llm main: retrying 2/3 in 4.0s: overloaded
demo  0ms
`)
}

func TestTreeShowsTheAgentNameOnNarrowScreens(t *testing.T) {
	for columns, want := range map[int]string{
		60: "refund-desk  plan v1 · 0/1 steps · 10.4k tok · $0.0123 · 0ms",
		50: "refund-desk  0/1 steps · 10.4k tok · $0.0123 · 0ms",
		40: "refund-desk  0/1 steps · $0.0123 · 0ms",
		30: "refund-desk  0/1 steps",
		20: "refund-desk",
	} {
		s := ttytest.New(t, columns+2, 24)
		tree, _ := newTree(s)
		run := story{tree}
		run.send(engine.Event{Type: engine.RunStarted, Spec: &engine.SpecInfo{Name: "refund-desk"}})
		run.send(engine.Event{Type: engine.ModelCompleted, Usage: &model.Tokens{Input: 10_400}, CostUSD: 0.0123})
		run.plan(1, "one")
		head, _, _ := strings.Cut(gap.ReplaceAllString(s.String(), "$1  $2"), "\n")
		if head != want {
			t.Errorf("%d columns: %q, want %q", columns, head, want)
		}
	}
}
