package engine_test

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
	"github.com/pexctl/pex/engine/journal"
)

// keeper is a tool that keeps a part of the session: each call adds to it, once.
type keeper struct{ part engine.SessionPart }

func (k keeper) Info() engine.ToolInfo {
	return engine.ToolInfo{Name: string(k.part), Description: "Keeps.", Effect: engine.IdempotentEffect, Input: json.RawMessage(`{"type":"object"}`)}
}

func (k keeper) Keeps() engine.SessionPart { return k.part }

func (k keeper) Call(ctx context.Context, c *engine.Call) (*engine.ToolOutput, error) {
	if c.Session == nil {
		return nil, errors.New("nothing is kept")
	}
	err := c.Session.Update(ctx, func(s *engine.Session) error {
		if k.part == engine.NotesPart {
			if slices.ContainsFunc(s.Notes, func(n engine.Note) bool { return n.ID == c.Key }) {
				return nil
			}
			s.Notes = append(s.Notes, engine.Note{ID: c.Key, RunID: c.RunID, Text: "a note", At: time.Unix(0, 0).UTC()})
			return nil
		}
		s.Variables = map[string]json.RawMessage{"b": json.RawMessage(`{"n": 1}`), "a": json.RawMessage(`"` + strings.Repeat("x", 200) + `"`)}
		return nil
	})
	return &engine.ToolOutput{Text: "kept"}, err
}

func keepers(parts ...engine.SessionPart) []engine.HostTool {
	var out []engine.HostTool
	for _, p := range parts {
		out = append(out, engine.HostTool{Tool: keeper{p}})
	}
	return out
}

// using is a node that calls tools, one after another, and warns with what they say.
func using(tools ...string) does {
	return func(s engine.Scope) error {
		for _, tool := range tools {
			rec, _, err := s.Tool(tool, engine.Invocation{Tool: tool, StepID: "s1"})
			if err != nil {
				return err
			}
			s.Record(engine.Warned{Text: string(rec.Status) + ": " + rec.Text()})
		}
		return nil
	}
}

func TestSessionsAreShownToRunsThatCanUseThem(t *testing.T) {
	notes := []engine.Note{{ID: "first/notes", RunID: "first", Text: "a note", At: time.Unix(0, 0).UTC()}}
	variables := []engine.VariableView{
		{Name: "a", Type: "text", Size: 202, Preview: `"` + strings.Repeat("x", 119) + " …"},
		{Name: "b", Type: "object", Size: 7, Preview: `{"n":1}`},
	}
	tests := []struct {
		name  string
		tools []engine.HostTool
		id    string
		want  engine.SessionView
	}{
		{"all of it", keepers(engine.NotesPart, engine.VariablesPart), "m", engine.SessionView{Notes: notes, Variables: variables}},
		{"the notes", keepers(engine.NotesPart), "m", engine.SessionView{Notes: notes}},
		{"the variables", keepers(engine.VariablesPart), "m", engine.SessionView{Variables: variables}},
		{"nothing without a tool for it", nil, "m", engine.SessionView{}},
		{"nothing of another conversation", keepers(engine.NotesPart), "other", engine.SessionView{}},
		{"nothing in a new conversation", keepers(engine.NotesPart), "", engine.SessionView{}},
	}
	store := &enginetest.Store{}
	first := engine.Run(
		t.Context(), remembering(using("notes", "variables")), engine.Input{RunID: "first", MemoryID: "m"},
		engine.Host{Memory: store, Tools: keepers(engine.NotesPart, engine.VariablesPart)}, engine.Options{Virtual: true},
	)
	if got := strings.Join(first.Warnings, ", "); got != "ok: kept, ok: kept" {
		t.Fatal(got)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var seen engine.SessionView
			p := remembering(func(s engine.Scope) error { seen = s.View().State.Session; return nil })
			engine.Run(t.Context(), p, engine.Input{RunID: "next", MemoryID: tt.id}, engine.Host{Memory: store, Tools: tt.tools}, engine.Options{Virtual: true})
			if d := cmp.Diff(tt.want, seen); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestNothingIsKeptTwiceByARunThatIsResumed cuts a run after each record of its
// journal, with all that it kept in the store, and resumes it.
func TestNothingIsKeptTwiceByARunThatIsResumed(t *testing.T) {
	p := remembering(func(s engine.Scope) error {
		if err := using("notes", "variables")(s); err != nil {
			return err
		}
		return endsWith("s1 ok a", "s2 ok b")(s)
	})
	for cut := 1; ; cut++ {
		store, j := &enginetest.Store{}, &journal.Memory{Paranoid: true}
		session := func() *engine.Result {
			return engine.Run(
				t.Context(), p, engine.Input{RunID: "r", MemoryID: "m", Parameters: map[string]any{"question": "q"}},
				engine.Host{Memory: store, Tools: keepers(engine.NotesPart, engine.VariablesPart)}, engine.Options{Virtual: true, Journal: j},
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
		if resumed.Status != engine.Completed || resumed.ParentInteractionID != whole.ParentInteractionID || resumed.ExecutorInteractionID != whole.ExecutorInteractionID {
			t.Errorf("cut after %d: %s, %s, %s", cut, resumed.Status, resumed.ParentInteractionID, resumed.ExecutorInteractionID)
		}
	}
}

// sessionless is a memory whose sessions cannot be read.
type sessionless struct{ *enginetest.Store }

func (sessionless) Session(context.Context, string) (engine.Session, error) {
	return engine.Session{}, errors.New("it is torn")
}

func TestASessionThatCannotBeReadIsAWarning(t *testing.T) {
	res := engine.Run(
		t.Context(), remembering(note("went on")), engine.Input{RunID: "r", MemoryID: "m"},
		engine.Host{Memory: sessionless{&enginetest.Store{}}, Tools: keepers(engine.NotesPart)}, engine.Options{Virtual: true},
	)
	if got := strings.Join(res.Warnings, ", "); res.Status != engine.Completed || !strings.HasSuffix(got, "could not be read: it is torn, went on") {
		t.Errorf("%s: %s", res.Status, got)
	}
}

// conversations is a memory without sessions.
type conversations struct{ engine.Memory }

func TestToolsKnowWhenNothingIsKept(t *testing.T) {
	none := remembering(using("notes"))
	none.Memory.Backend = "none"
	for name, c := range map[string]struct {
		p     *engine.Program
		store engine.Memory
	}{
		"no memory":                 {remembering(using("notes")), nil},
		"backend none":              {none, &enginetest.Store{}},
		"a memory without sessions": {remembering(using("notes")), conversations{&enginetest.Store{}}},
	} {
		t.Run(name, func(t *testing.T) {
			res := engine.Run(t.Context(), c.p, engine.Input{RunID: "r"}, engine.Host{Memory: c.store, Tools: keepers(engine.NotesPart)}, engine.Options{Virtual: true})
			if got := strings.Join(res.Warnings, ", "); got != "error: nothing is kept" {
				t.Error(got)
			}
		})
	}
}

func TestNestedAgentsShareTheSession(t *testing.T) {
	store := &enginetest.Store{}
	var seen engine.SessionView
	inner := remembering(func(s engine.Scope) error {
		seen = s.View().State.Session
		return using("notes")(s)
	})
	outer := remembering(func(s engine.Scope) error {
		if err := using("notes")(s); err != nil {
			return err
		}
		_, err := s.Agent("agent", inner, nil)
		return err
	})
	host := engine.Host{Memory: store, Tools: keepers(engine.NotesPart)}
	host.Nested = func(*engine.Program, map[string]any) (engine.Host, error) {
		return engine.Host{Tools: keepers(engine.NotesPart)}, nil
	}
	engine.Run(t.Context(), outer, engine.Input{RunID: "r", MemoryID: "m"}, host, engine.Options{Virtual: true})
	kept, err := store.Session(t.Context(), "m")
	if err != nil || len(kept.Notes) != 2 || len(seen.Notes) != 1 {
		t.Errorf("%d notes kept, %d shown to the agent, %v", len(kept.Notes), len(seen.Notes), err)
	}
}

// survey is a tool that asks as many questions as it holds.
type survey []string

func (survey) Info() engine.ToolInfo {
	return engine.ToolInfo{Name: "survey", Description: "Asks.", Effect: engine.ReadEffect, Input: json.RawMessage(`{"type":"object"}`)}
}

func (survey) Call(context.Context, *engine.Call) (*engine.ToolOutput, error) {
	return nil, errors.New("an asker is not called")
}

func (y survey) Consult(_ json.RawMessage, answers []engine.Decision) (*engine.Question, *engine.ToolOutput, error) {
	if n := len(answers); n < len(y) {
		return &engine.Question{Kind: engine.AskUser, Question: y[n]}, nil, nil
	}
	var all []string
	for _, d := range answers {
		if d.Answer() == "" {
			return nil, nil, errors.New("an answer is missing")
		}
		all = append(all, d.Answer())
	}
	return nil, &engine.ToolOutput{Text: strings.Join(all, " and ")}, nil
}

// decided is answers by path, as people type them.
func decided(t *testing.T, answers map[string]string) map[string]json.RawMessage {
	t.Helper()
	out := map[string]json.RawMessage{}
	for path, typed := range answers {
		b, err := json.Marshal(engine.ParseDecision(typed))
		if err != nil {
			t.Fatal(err)
		}
		out[path] = b
	}
	return out
}

func TestAToolThatAsksParksTheRunUntilItIsAnswered(t *testing.T) {
	j := &journal.Memory{Paranoid: true}
	session := func(answers map[string]string) *engine.Result {
		return engine.Run(
			t.Context(), program(map[string]does{"a": using("survey")}), engine.Input{RunID: "r"},
			engine.Host{Tools: []engine.HostTool{{Tool: survey{"first?", "second?"}}}},
			engine.Options{Virtual: true, Journal: j, Answers: decided(t, answers)},
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
		if res.Status != engine.Interrupted || res.StopReason.Code != engine.StopInterrupted || len(res.Interrupts) != 1 {
			t.Fatalf("%s, %+v", res.Status, res.Interrupts)
		}
		want := engine.Question{Path: step.path, Kind: engine.AskUser, Tool: "survey", Question: step.asked}
		if d := cmp.Diff(want, res.Interrupts[0]); d != "" {
			t.Error(d)
		}
	}
	res := session(map[string]string{"survey.ask.2": "no: too blue"})
	if got := strings.Join(res.Warnings, ", "); res.Status != engine.Completed || got != "ok: red and no: too blue" || res.Usage.ToolCalls != 1 {
		t.Errorf("%s: %s after %d tool calls", res.Status, got, res.Usage.ToolCalls)
	}
	for _, rec := range j.Records {
		if rec.Kind == journal.Intent && rec.Class != journal.Question {
			t.Errorf("%s is an effect of class %v", rec.Path, rec.Class)
		}
	}
}

func TestAToolThatAsksMayFail(t *testing.T) {
	people := answering{"text": `{"do":"text","text":""}`}
	res := engine.Run(
		t.Context(), program(map[string]does{"a": using("survey")}), engine.Input{RunID: "r"},
		engine.Host{Tools: []engine.HostTool{{Tool: survey{"first?"}}}, People: people}, engine.Options{Virtual: true},
	)
	if got := strings.Join(res.Warnings, ", "); got != "error: an answer is missing" {
		t.Error(got)
	}
}

// answering is a person who says one thing to every question.
type answering map[string]string

func (a answering) Ask(context.Context, engine.Question) (json.RawMessage, error) {
	return json.RawMessage(a["text"]), nil
}
