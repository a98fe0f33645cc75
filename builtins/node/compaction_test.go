package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// when returns a rule condition as the compiler would produce it.
func when(source string, holds func(exprenv.Memory) bool) component.GuardRef {
	g := component.GuardRef{Source: source}
	g.Bind(func(env map[string]any) (bool, error) { return holds(env["memory"].(exprenv.Memory)), nil })
	return g
}

func over(tokens int) component.GuardRef {
	return when("over", func(m exprenv.Memory) bool { return m.Tokens > tokens })
}

// listener is a model that records the requests it receives.
type listener struct {
	answer func(req *model.Request) *model.Reply

	mu   sync.Mutex
	seen []*model.Request
}

func (m *listener) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, req)
	r := m.answer(req)
	if r == nil {
		return nil, &model.Error{Kind: model.BadRequest, Message: "odd"}
	}
	return r, nil
}

func (m *listener) of(role string) (out []*model.Request) {
	for _, r := range m.seen {
		if r.Role == role {
			out = append(out, r)
		}
	}
	return out
}

func text(req *model.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		b.WriteString(m.Text.String() + "\n")
	}
	return b.String()
}

// tokens estimates the tokens of a request as characters / 4, as documented.
func tokens(req *model.Request) int {
	n := 0
	for _, m := range req.Messages {
		n += utf8.RuneCountInString(m.Text.String())
		for _, c := range m.Calls {
			n += len(c.Name) + utf8.RuneCount(c.Args)
		}
	}
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Input)
	}
	return model.EstimateTokens(n)
}

// talker returns a model that plans the given number of steps, makes the given number of
// calls in each with long thoughts, and writes long reports.
func talker(steps, calls int) *listener {
	m := &listener{}
	m.answer = func(req *model.Request) *model.Reply {
		r := &model.Reply{Stop: model.EndTurn}
		switch {
		case req.Role == "summarizer":
			r.Text = fmt.Sprintf("notes %d", req.Call)
		case req.Role == "executor" && req.Call <= calls:
			r.Text, r.Stop = fmt.Sprintf("%s thought %d ", req.Step, req.Call)+strings.Repeat("t", 600), model.ToolUse
			r.Calls = []model.ToolCall{{ID: fmt.Sprint("c", req.Call), Name: "add", Args: json.RawMessage(`{"a":1,"b":1}`)}}
		case req.Role == "executor":
			r.Text = "result of " + req.Step + " " + strings.Repeat("r", 900)
		default:
			done := 0
			if req.Role == "reflector" {
				done = req.Call
			}
			var goals []string
			for i := done + 1; i <= steps; i++ {
				goals = append(goals, fmt.Sprintf(`"goal %d"`, i))
			}
			r.Text = `{"steps":[` + strings.Join(goals, ",") + `],"result":""}`
			if len(goals) == 0 {
				r.Text = `{"steps":[],"result":"the answer"}`
			}
		}
		return r
	}
	return m
}

func runTalker(t *testing.T, m *listener, c engine.Compaction) *engine.Result {
	t.Helper()
	p := perProgram(t)
	p.Memory.Compaction = c
	if c.Summarize != nil {
		c.Summarize.LLM = "main"
	}
	h := engine.Host{Models: map[string]model.Model{"main": m}, Tools: []tool.Binding{{Tool: addTool{}}}}
	res := runtime.Run(t.Context(), p, perInput, h, runtime.Options{Conversation: true})
	if res.Status != stop.RunCompleted || len(res.Warnings) > 0 {
		t.Fatal(res.StopReason, res.Error, res.Warnings)
	}
	return res
}

// A rule applies to exactly the requests that exceed its threshold.
func TestRuleAppliesExactlyAboveItsThreshold(t *testing.T) {
	plain := talker(1, 6)
	runTalker(t, plain, engine.Compaction{})
	whole := plain.of("executor")
	for i := range whole {
		for _, bound := range []int{tokens(whole[i]) - 1, tokens(whole[i])} {
			m := talker(1, 6)
			runTalker(t, m, engine.Compaction{SlidingWindow: &engine.Window{When: over(bound), Keep: 1}})
			for k, req := range m.of("executor") {
				passed := tokens(whole[k]) > bound
				want := passed && k > 1 // one turn is always kept
				if got := tokens(req) < tokens(whole[k]); got != want {
					t.Errorf("threshold %d: request %d of %d tokens is shortened: %v", bound, k+1, tokens(whole[k]), got)
				}
			}
		}
	}
}

func TestNewestPairsAreKeptVerbatim(t *testing.T) {
	for keep := 1; keep <= 4; keep++ {
		m := talker(1, 6)
		runTalker(t, m, engine.Compaction{SlidingWindow: &engine.Window{When: over(0), Keep: keep}})
		last := m.of("executor")[6]
		for turn := 1; turn <= 6; turn++ {
			if got, want := strings.Contains(text(last), fmt.Sprintf("thought %d ", turn)), turn > 6-keep; got != want {
				t.Errorf("keep %d: turn %d is there: %v", keep, turn, got)
			}
		}
	}
}

// A summary covers only new messages and replaces them until the threshold is exceeded
// again.
func TestNothingIsSummarizedTwice(t *testing.T) {
	m := talker(1, 12)
	res := runTalker(t, m, engine.Compaction{Summarize: &engine.Summarization{When: over(900), Keep: 2}})
	asked := m.of("summarizer")
	if len(asked) < 2 || len(asked) > 5 {
		t.Fatalf("%d summaries were made in 13 turns", len(asked))
	}
	for turn := 1; turn <= 12; turn++ {
		n := 0
		for _, req := range asked {
			n += strings.Count(text(req), fmt.Sprintf("thought %d ", turn))
		}
		if n > 1 {
			t.Errorf("turn %d was summarized %d times", turn, n)
		}
	}
	for i, req := range asked[1:] {
		if !strings.Contains(text(req), fmt.Sprintf("notes %d", i+1)) {
			t.Errorf("summary %d does not build on the one before", i+2)
		}
	}
	last := text(m.of("executor")[12])
	for _, want := range []string{fmt.Sprintf("notes %d", len(asked)), "1. [remains] s1: goal 1", "thought 12 "} {
		if !strings.Contains(last, want) {
			t.Errorf("the last request lacks %q", want)
		}
	}
	if calls := res.Steps[0].Usage.ModelCalls; calls != 13+len(asked) {
		t.Errorf("the step counts %d model calls", calls)
	}
}

// The reflector's prompt shrinks before the call; decisions are kept, and the next review
// reuses the summary.
func TestStepResultsAreSummarizedForTheReflector(t *testing.T) {
	m := talker(8, 0)
	runTalker(t, m, engine.Compaction{Summarize: &engine.Summarization{When: over(1400), Keep: 2}})
	plan, step := 0, 0
	for _, req := range m.of("summarizer") {
		if req.Step == "" {
			plan++
			if strings.Contains(text(req), "(removed to") {
				t.Error("a removed result is summarized")
			}
		} else {
			step++
		}
	}
	if plan < 2 || plan > 3 {
		t.Errorf("%d summaries for the reflector", plan)
	}
	if step > 4 {
		t.Errorf("%d summaries for the executor", step)
	}
	last := m.of("reflector")[7]
	for i := 1; i <= 8; i++ {
		if !strings.Contains(text(last), fmt.Sprintf("\ns%d: goal %d\n", i, i)) || !strings.Contains(text(last), fmt.Sprintf("\ns%d [ok]:\n", i)) {
			t.Errorf("the last prompt does not mention step %d", i)
		}
		if i > 6 != strings.Contains(text(last), fmt.Sprintf("result of goal %d", i)) && i < 4 {
			t.Errorf("the result of step %d is still there", i)
		}
	}
	if !strings.Contains(text(last), "notes ") || tokens(last) > 1400 {
		t.Errorf("the last prompt has %d tokens:\n%s", tokens(last), text(last))
	}
}

// Notes on turns of a step follow the step, even after the history limit dropped the
// messages that followed them.
func TestNotesReplaceTheTurnsInPlace(t *testing.T) {
	m := talker(1, 9)
	runTalker(t, m, engine.Compaction{
		Summarize:     &engine.Summarization{When: over(900), Keep: 4},
		SlidingWindow: &engine.Window{When: over(980), Keep: 1},
	})
	for i, req := range m.of("executor")[7:] {
		if got := req.Messages[2].Text.String(); !strings.Contains(got, "notes ") || !strings.Contains(req.Messages[1].Text.String(), "goal 1") {
			t.Errorf("request %d has %q behind its first", i+8, got)
		}
	}
}

func TestUnusableSummaryIsAWarning(t *testing.T) {
	for name, bad := range map[string]*model.Reply{
		"fails":   nil,
		"refused": {Text: "no", Stop: model.Refusal},
		"cut off": {Text: "half a", Stop: model.MaxTokens},
		"empty":   {Text: " \n", Stop: model.EndTurn},
		"longer":  {Text: strings.Repeat("notes ", 2000), Stop: model.EndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			m := talker(1, 6)
			usual := m.answer
			m.answer = func(req *model.Request) *model.Reply {
				if req.Role == "summarizer" {
					return bad
				}
				return usual(req)
			}
			p := perProgram(t)
			p.Memory.Compaction.Summarize = &engine.Summarization{When: over(700), Keep: 1, LLM: "main"}
			h := engine.Host{Models: map[string]model.Model{"main": m}, Tools: []tool.Binding{{Tool: addTool{}}}}
			res := runtime.Run(t.Context(), p, perInput, h, runtime.Options{})
			executor := 0
			for _, req := range m.of("summarizer") {
				if req.Step != "" {
					executor++
				}
			}
			if res.Status != stop.RunCompleted || executor != 1 || len(res.Warnings) == 0 || !strings.Contains(res.Warnings[0], "not summarized") {
				t.Fatalf("%v after %d summaries, warnings %q", res.StopReason, executor, res.Warnings)
			}
			if last := text(m.of("executor")[6]); !strings.Contains(last, "thought 1 ") || strings.Contains(last, "notes") {
				t.Error("the conversation is not what it was")
			}
		})
	}
}

func TestConversationKeepsMessagesThatAreNoLongerSent(t *testing.T) {
	res := runTalker(t, talker(1, 6), engine.Compaction{Summarize: &engine.Summarization{When: over(700), Keep: 1}})
	var all strings.Builder
	for _, m := range res.Conversation {
		all.WriteString(m.Text.String() + "\n")
	}
	for turn := 1; turn <= 6; turn++ {
		if strings.Count(all.String(), fmt.Sprintf("thought %d ", turn)) != 1 {
			t.Errorf("turn %d does not appear exactly once", turn)
		}
	}
	for _, want := range []string{"memory.compaction.summarize: ", "notes 1"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// A compacted run that is cut at any record ends the same and never requests a summary
// again.
func TestCompactedRunResumesIdenticallyFromAnyRecord(t *testing.T) {
	p := perProgram(t)
	p.Memory.Compaction = engine.Compaction{
		TruncateToolOutput: &engine.Truncation{When: over(400), MaxBytes: 200},
		Summarize:          &engine.Summarization{When: over(900), Keep: 2, LLM: "main"},
		SlidingWindow:      &engine.Window{When: over(1500), Keep: 1},
	}
	run := func(j *journal.Memory) (*engine.Result, *listener) {
		m := talker(3, 4)
		h := engine.Host{Models: map[string]model.Model{"main": m}, Tools: []tool.Binding{{Tool: addTool{}}}}
		return runtime.Run(t.Context(), p, perInput, h, runtime.Options{Journal: j, Virtual: true}), m
	}
	whole := &journal.Memory{RoundTrip: true}
	want, first := run(whole)
	if want.Status != stop.RunCompleted || len(first.of("summarizer")) == 0 {
		t.Fatal(want.StopReason, want.Error)
	}
	for n := range len(whole.Records) + 1 {
		got, _ := run(&journal.Memory{RoundTrip: true, Records: slices.Clone(whole.Records[:n])})
		one, two := *want, *got
		one.StartedAt, one.DurationMS, two.DurationMS = two.StartedAt, 0, 0
		a, _ := json.Marshal(one)
		b, _ := json.Marshal(two)
		if string(a) != string(b) {
			t.Fatalf("cut after record %d of %d:\n%s\nnot\n%s", n, len(whole.Records), b, a)
		}
	}
}

func TestShortenedOutputsKeepHeadAndTail(t *testing.T) {
	for _, tt := range []struct {
		name, output string
		max          int
	}{
		{"ascii", "HEAD" + strings.Repeat("x", 5000) + "TAIL", 200},
		{"wide characters", "HEAD" + strings.Repeat("语", 5000) + "TAIL", 333},
		{"just fits", "HEAD" + strings.Repeat("x", 292) + "TAIL", 300},
		{"one too long", "HEAD" + strings.Repeat("x", 293) + "TAIL", 300},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := talker(1, 2)
			p := perProgram(t)
			p.Memory.Compaction.TruncateToolOutput = &engine.Truncation{When: over(0), MaxBytes: tt.max}
			h := engine.Host{Models: map[string]model.Model{"main": m}, Tools: []tool.Binding{{Tool: sayTool(tt.output)}}}
			runtime.Run(t.Context(), p, perInput, h, runtime.Options{})
			last := m.of("executor")[2]
			old, newest := last.Messages[3].Text.String(), last.Messages[5].Text.String()
			if newest != tt.output {
				t.Errorf("the newest output is %q", newest)
			}
			if len(old) > tt.max || !utf8.ValidString(old) || !strings.HasPrefix(old, "HEAD") || !strings.HasSuffix(old, "TAIL") {
				t.Errorf("the old output became %q", old)
			}
			if fits := len(tt.output) <= tt.max; fits != (old == tt.output) {
				t.Errorf("%d bytes became %d", len(tt.output), len(old))
			}
		})
	}
}

// sayTool is a tool that always returns the same text.
type sayTool string

func (sayTool) Info() tool.Info {
	return tool.Info{Name: "add", Effect: tool.ReadEffect, Input: json.RawMessage(`{"type":"object"}`)}
}

func (s sayTool) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return &tool.Output{Text: string(s)}, nil
}
