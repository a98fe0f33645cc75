package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// sessionTool is a tool that adds an entry to a part of the session in each call.
type sessionTool struct{ part memory.SessionPart }

func (k sessionTool) Info() tool.Info {
	return tool.Info{Name: string(k.part), Description: "Keeps.", Effect: tool.IdempotentEffect, Input: json.RawMessage(`{"type":"object"}`)}
}

func (k sessionTool) SessionPart() memory.SessionPart { return k.part }

func (k sessionTool) Call(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	if c.Session == nil {
		return nil, errors.New("nothing is kept")
	}
	err := c.Session.Update(ctx, func(s *memory.Session) error {
		if k.part == memory.NotesPart {
			if slices.ContainsFunc(s.Notes, func(n memory.Note) bool { return n.ID == c.Key }) {
				return nil
			}
			s.Notes = append(s.Notes, memory.Note{ID: c.Key, RunID: c.RunID, Text: "a note", At: time.Unix(0, 0).UTC()})
			return nil
		}
		s.Variables = map[string]json.RawMessage{"b": json.RawMessage(`{"n": 1}`), "a": json.RawMessage(`"` + strings.Repeat("x", 200) + `"`)}
		return nil
	})
	return &tool.Output{Text: "kept"}, err
}

func sessionTools(parts ...memory.SessionPart) []tool.Binding {
	var out []tool.Binding
	for _, p := range parts {
		out = append(out, tool.Binding{Tool: sessionTool{p}})
	}
	return out
}

// callsTools returns a node that calls tools in sequence and records their results as
// warnings.
func callsTools(tools ...string) nodeFunc {
	return func(s engine.Scope) error {
		for _, tool := range tools {
			rec, _, err := s.Tool(tool, engine.Invocation{Tool: tool, StepID: "s1"})
			if err != nil {
				return err
			}
			s.Record(engine.WarningAdded{Text: string(rec.Status) + ": " + rec.Text()})
		}
		return nil
	}
}

func TestSessionsAreReadByRunsThatUseThem(t *testing.T) {
	notes := []memory.Note{{ID: "first/notes", RunID: "first", Text: "a note", At: time.Unix(0, 0).UTC()}}
	variables := []memory.VariableView{
		{Name: "a", Type: "text", Size: 202, Preview: `"` + strings.Repeat("x", 119) + " …"},
		{Name: "b", Type: "object", Size: 7, Preview: `{"n":1}`},
	}
	tests := []struct {
		name  string
		tools []tool.Binding
		id    string
		want  memory.SessionView
	}{
		{"all of it", sessionTools(memory.NotesPart, memory.VariablesPart), "m", memory.SessionView{Notes: notes, Variables: variables}},
		{"the notes", sessionTools(memory.NotesPart), "m", memory.SessionView{Notes: notes}},
		{"the variables", sessionTools(memory.VariablesPart), "m", memory.SessionView{Variables: variables}},
		{"nothing without a tool for it", nil, "m", memory.SessionView{}},
		{"nothing of another conversation", sessionTools(memory.NotesPart), "other", memory.SessionView{}},
		{"nothing in a new conversation", sessionTools(memory.NotesPart), "", memory.SessionView{}},
	}
	store := &enginetest.Store{}
	first := execute(
		t.Context(), programWithMemory(callsTools("notes", "variables")), engine.Input{RunID: "first", MemoryID: "m"},
		engine.Host{Memory: store, Tools: sessionTools(memory.NotesPart, memory.VariablesPart)}, runtime.Options{Virtual: true},
	)
	if got := strings.Join(first.Warnings, ", "); got != "ok: kept, ok: kept" {
		t.Fatal(got)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var seen memory.SessionView
			p := programWithMemory(func(s engine.Scope) error { seen = s.View().State.Session; return nil })
			execute(t.Context(), p, engine.Input{RunID: "next", MemoryID: tt.id}, engine.Host{Memory: store, Tools: tt.tools}, runtime.Options{Virtual: true})
			if d := cmp.Diff(tt.want, seen); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestResumedRunStoresNothingTwice cuts a run after each record of its journal and resumes
// it with the data that it had stored.
func TestResumedRunStoresNothingTwice(t *testing.T) {
	p := programWithMemory(func(s engine.Scope) error {
		if err := callsTools("notes", "variables")(s); err != nil {
			return err
		}
		return endsWith("s1 ok a", "s2 ok b")(s)
	})
	for cut := 1; ; cut++ {
		store, j := &enginetest.Store{}, &journal.Memory{RoundTrip: true}
		session := func() *engine.Result {
			return execute(
				t.Context(), p, engine.Input{RunID: "r", MemoryID: "m", Parameters: map[string]any{"question": "q"}},
				engine.Host{Memory: store, Tools: sessionTools(memory.NotesPart, memory.VariablesPart)}, runtime.Options{Virtual: true, Journal: j},
			)
		}
		whole := session()
		if cut >= len(j.Records) {
			break
		}
		j.Records = j.Records[:cut:cut]
		resumed := session()
		kept, err := store.Session(t.Context(), "m")
		if err != nil || len(kept.Notes) != 1 || len(kept.Variables) != 2 {
			t.Errorf("cut after %d: %+v, %v", cut, kept, err)
		}
		turns, _ := store.History(t.Context(), "m")
		steps, _ := store.History(t.Context(), resumed.ExecutorMemoryID)
		if len(turns) != 1 || len(steps) != 2 {
			t.Errorf("cut after %d: %d turns and %d steps", cut, len(turns), len(steps))
		}
		if resumed.Status != stop.RunCompleted || resumed.ParentInteractionID != whole.ParentInteractionID || resumed.ExecutorInteractionID != whole.ExecutorInteractionID {
			t.Errorf("cut after %d: %s, %s, %s", cut, resumed.Status, resumed.ParentInteractionID, resumed.ExecutorInteractionID)
		}
	}
}

// brokenSessions is a memory whose sessions are unreadable.
type brokenSessions struct{ *enginetest.Store }

func (brokenSessions) Session(context.Context, string) (memory.Session, error) {
	return memory.Session{}, errors.New("it is torn")
}

func TestUnreadableSessionIsAWarning(t *testing.T) {
	res := execute(
		t.Context(), programWithMemory(warn("went on")), engine.Input{RunID: "r", MemoryID: "m"},
		engine.Host{Memory: brokenSessions{&enginetest.Store{}}, Tools: sessionTools(memory.NotesPart)}, runtime.Options{Virtual: true},
	)
	if got := strings.Join(res.Warnings, ", "); res.Status != stop.RunCompleted || !strings.HasSuffix(got, "could not be read: it is torn, went on") {
		t.Errorf("%s: %s", res.Status, got)
	}
}

// storeWithoutSessions is a memory.Store without sessions.
type storeWithoutSessions struct{ memory.Store }

func TestToolsWithoutMemoryHaveNoSession(t *testing.T) {
	none := programWithMemory(callsTools("notes"))
	none.Memory.Backend = "none"
	for name, c := range map[string]struct {
		p     *engine.Program
		store memory.Store
	}{
		"no memory":                 {programWithMemory(callsTools("notes")), nil},
		"backend none":              {none, &enginetest.Store{}},
		"a memory without sessions": {programWithMemory(callsTools("notes")), storeWithoutSessions{&enginetest.Store{}}},
	} {
		t.Run(name, func(t *testing.T) {
			res := execute(t.Context(), c.p, engine.Input{RunID: "r"}, engine.Host{Memory: c.store, Tools: sessionTools(memory.NotesPart)}, runtime.Options{Virtual: true})
			if got := strings.Join(res.Warnings, ", "); got != "error: nothing is kept" {
				t.Error(got)
			}
		})
	}
}

func TestNestedAgentsShareTheSession(t *testing.T) {
	store := &enginetest.Store{}
	var seen memory.SessionView
	inner := programWithMemory(func(s engine.Scope) error {
		seen = s.View().State.Session
		return callsTools("notes")(s)
	})
	outer := programWithMemory(func(s engine.Scope) error {
		if err := callsTools("notes")(s); err != nil {
			return err
		}
		_, err := s.Agent("agent", inner, nil)
		return err
	})
	outer.Agents = []*engine.Program{inner}
	host := engine.Host{Memory: store, Tools: sessionTools(memory.NotesPart)}
	host.Nested = func(*engine.Program, map[string]any) (engine.Host, error) {
		return engine.Host{Tools: sessionTools(memory.NotesPart)}, nil
	}
	execute(t.Context(), outer, engine.Input{RunID: "r", MemoryID: "m"}, host, runtime.Options{Virtual: true})
	kept, err := store.Session(t.Context(), "m")
	if err != nil || len(kept.Notes) != 2 || len(seen.Notes) != 1 {
		t.Errorf("%d notes stored, %d visible to the agent, %v", len(kept.Notes), len(seen.Notes), err)
	}
}

// survey is a HumanTool with a list of questions.
type survey []string

func (survey) Info() tool.Info {
	return tool.Info{Name: "survey", Description: "Asks.", Effect: tool.ReadEffect, Input: json.RawMessage(`{"type":"object"}`)}
}

func (survey) Call(context.Context, *tool.Call) (*tool.Output, error) {
	return nil, errors.New("an asker is not called")
}

func (y survey) NextQuestion(_ json.RawMessage, answers []interrupt.Decision) (*interrupt.Question, *tool.Output, error) {
	if n := len(answers); n < len(y) {
		return &interrupt.Question{Kind: interrupt.User, Question: y[n]}, nil, nil
	}
	var all []string
	for _, d := range answers {
		if d.Answer() == "" {
			return nil, nil, errors.New("an answer is missing")
		}
		all = append(all, d.Answer())
	}
	return nil, &tool.Output{Text: strings.Join(all, " and ")}, nil
}

// encodeAnswers encodes typed answers by path.
func encodeAnswers(t *testing.T, answers map[string]string) map[string]json.RawMessage {
	t.Helper()
	out := map[string]json.RawMessage{}
	for path, typed := range answers {
		b, err := json.Marshal(interrupt.Parse(typed))
		if err != nil {
			t.Fatal(err)
		}
		out[path] = b
	}
	return out
}

func TestHumanToolSuspendsTheRunUntilAnswered(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	session := func(answers map[string]string) *engine.Result {
		return execute(
			t.Context(), program(map[string]nodeFunc{"a": callsTools("survey")}), engine.Input{RunID: "r"},
			engine.Host{Tools: []tool.Binding{{Tool: survey{"first?", "second?"}}}},
			runtime.Options{Virtual: true, Journal: j, Answers: encodeAnswers(t, answers)},
		)
	}
	for _, step := range []struct {
		answers map[string]string
		path    string
		asked   string
	}{
		{nil, "survey.ask", "first?"},
		{map[string]string{"survey.ask": "red"}, "survey.ask.2", "second?"},
	} {
		res := session(step.answers)
		if res.Status != stop.RunInterrupted || res.StopReason.Code != stop.Interrupted || len(res.Interrupts) != 1 {
			t.Fatalf("%s, %+v", res.Status, res.Interrupts)
		}
		want := interrupt.Question{Path: step.path, Kind: interrupt.User, Tool: "survey", Question: step.asked}
		if d := cmp.Diff(want, res.Interrupts[0]); d != "" {
			t.Error(d)
		}
	}
	res := session(map[string]string{"survey.ask.2": "no: too blue"})
	if got := strings.Join(res.Warnings, ", "); res.Status != stop.RunCompleted || got != "ok: red and no: too blue" || res.Usage.ToolCalls != 1 {
		t.Errorf("%s: %s after %d tool calls", res.Status, got, res.Usage.ToolCalls)
	}
	for _, rec := range j.Records {
		if rec.Kind == journal.Intent && rec.Class != journal.Question {
			t.Errorf("%s is an effect of class %v", rec.Path, rec.Class)
		}
	}
}

func TestHumanToolMayFail(t *testing.T) {
	people := fixedAnswer{"text": `{"do":"text","text":""}`}
	res := execute(
		t.Context(), program(map[string]nodeFunc{"a": callsTools("survey")}), engine.Input{RunID: "r"},
		engine.Host{Tools: []tool.Binding{{Tool: survey{"first?"}}}, Responder: people}, runtime.Options{Virtual: true},
	)
	if got := strings.Join(res.Warnings, ", "); got != "error: an answer is missing" {
		t.Error(got)
	}
}

// fixedAnswer is a Responder with the same answer to every question.
type fixedAnswer map[string]string

func (a fixedAnswer) Ask(context.Context, interrupt.Question) (json.RawMessage, error) {
	return json.RawMessage(a["text"]), nil
}
