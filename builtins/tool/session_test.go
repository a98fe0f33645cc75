package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/tool"
)

// conversation is a store with the session of one conversation.
type conversation struct {
	store *enginetest.Store
	calls int
}

func (c *conversation) tool(t *testing.T, name string) func(key, args string) (string, error) {
	t.Helper()
	f, ok := builtintool.All().Find(name)
	if !ok {
		t.Fatalf("there is no tool %s", name)
	}
	made, err := f.Build(f.Config(), tool.Settings{Now: func() time.Time { return time.Date(2026, 1, 2, 15, 4, 5, 6, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	return func(key, args string) (string, error) {
		if key == "" {
			c.calls++
			key = fmt.Sprintf("r/%d", c.calls)
		}
		out, err := made.Call(t.Context(), &tool.Call{Args: json.RawMessage(args), Key: key, RunID: "r", Session: session{c.store}})
		if err != nil {
			return "", err
		}
		return out.Text + string(out.Data), nil
	}
}

// session implements tool.CallSession with a store.
type session struct{ store *enginetest.Store }

func (s session) Read(ctx context.Context) (memory.Session, error) { return s.store.Session(ctx, "m") }

func (s session) Update(ctx context.Context, change func(*memory.Session) error) error {
	return s.store.UpdateSession(ctx, "m", change)
}

// exchange is one call and its expected output; "! " marks a part of the expected error.
type exchange struct{ args, want string }

func converse(t *testing.T, name string, all []exchange) *enginetest.Store {
	t.Helper()
	c := &conversation{store: &enginetest.Store{}}
	call := c.tool(t, name)
	for _, x := range all {
		got, err := call("", x.args)
		said, wrong := strings.CutPrefix(x.want, "! ")
		switch {
		case wrong && (err == nil || !strings.Contains(err.Error(), said)):
			t.Errorf("%.200s: %q, %v, want an error with %q", x.args, got, err, said)
		case !wrong && (err != nil || got != said):
			t.Errorf("%.200s: %q, %v, want %q", x.args, got, err, said)
		}
	}
	return c.store
}

func TestNotepad(t *testing.T) {
	store := converse(t, "notepad", []exchange{
		{`{"action":"list"}`, "the notepad is empty"},
		{`{"action":"add","text":"  checkout is in EUR\n"}`, "noted; the notepad holds 1 note"},
		{`{"action":"add","text":"ask Ann"}`, "noted; the notepad holds 2 notes"},
		{`{"action":"list"}`, "1. [2026-01-02 15:04] checkout is in EUR\n2. [2026-01-02 15:04] ask Ann"},
		{`{"action":"add"}`, `! "text" is missing`},
		{`{"action":"add","text":"` + strings.Repeat("x", 4001) + `"}`, "! the limit is 4000"},
		{`{"action":"remove"}`, "! must be add, list or clear"},
		{`{}`, "! must be add, list or clear"},
	})
	got, err := store.Session(t.Context(), "m")
	if err != nil {
		t.Fatal(err)
	}
	want := memory.Note{ID: "r/2", RunID: "r", Text: "checkout is in EUR", At: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
	if d := cmp.Diff(want, got.Notes[0]); d != "" {
		t.Error(d)
	}
	converse(t, "notepad", []exchange{
		{`{"action":"add","text":"a"}`, "noted; the notepad holds 1 note"},
		{`{"action":"clear"}`, "the notepad is empty now"},
		{`{"action":"list"}`, "the notepad is empty"},
	})
}

func TestFullNotepadErrorSuggestsAFix(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		fit        int
	}{{"by number", "a", 100}, {"by size", strings.Repeat("x", 4000), 4}} {
		t.Run(tt.name, func(t *testing.T) {
			add := `{"action":"add","text":"` + tt.text + `"}`
			all := make([]exchange, 0, tt.fit+3)
			for i := range tt.fit {
				word := "notes"
				if i == 0 {
					word = "note"
				}
				all = append(all, exchange{add, fmt.Sprintf("noted; the notepad holds %d %s", i+1, word)})
			}
			converse(t, "notepad", append(
				all, exchange{add, "! the notepad is full"},
				exchange{`{"action":"clear"}`, "the notepad is empty now"}, exchange{add, "noted; the notepad holds 1 note"},
			))
		})
	}
}

func TestVariables(t *testing.T) {
	converse(t, "variables", []exchange{
		{`{"action":"list"}`, "no variable is set"},
		{`{"action":"get","name":"x"}`, `! unknown variable "x"; no variables are set`},
		{`{"action":"set","name":"ids","value":[1, 12345678901234567890]}`, "ids is set (24 bytes)"},
		{`{"action":"set","name":"a.b-c","value":"text"}`, "a.b-c is set (6 bytes)"},
		{`{"action":"set","name":"nothing","value":null}`, "nothing is set (4 bytes)"},
		{`{"action":"get","name":"ids"}`, "[1,12345678901234567890]"},
		{`{"action":"get","name":"a.b-c"}`, "text"},
		{`{"action":"get","name":"x"}`, "! the variables are a.b-c, ids, nothing"},
		{`{"action":"set","name":"ids","value":{"n":7}}`, `ids is set (7 bytes)`},
		{`{"action":"list"}`, "a.b-c (text, 6 bytes): \"text\"\nids (object, 7 bytes): {\"n\":7}\nnothing (null, 4 bytes): null"},
		{`{"action":"delete","name":"ids"}`, "ids is not set any more"},
		{`{"action":"delete","name":"ids"}`, "ids is not set any more"},
		{`{"action":"get","name":"ids"}`, `! unknown variable "ids"`},
		{`{"action":"set","name":"x"}`, `! "value" is missing`},
		{`{"action":"set","value":1}`, `! "name" is missing`},
		{`{"action":"set","name":"a b","value":1}`, "! cannot be the name"},
		{`{"action":"set","name":"` + strings.Repeat("x", 65) + `","value":1}`, "! cannot be the name"},
		{`{"action":"set","name":"big","value":"` + strings.Repeat("x", 32<<10) + `"}`, "! the limit is 32768"},
		{`{"action":"drop","name":"ids"}`, "! must be set, get, list or delete"},
	})
}

func TestVariablesAreLimited(t *testing.T) {
	big := strings.Repeat("x", 30<<10)
	for _, tt := range []struct {
		name, value, want string
		fit               int
	}{{"by number", "1", "! the limit of 64 variables is reached", 64}, {"by size", `"` + big + `"`, "! the limit is 262144", 8}} {
		t.Run(tt.name, func(t *testing.T) {
			set := func(i int) string { return fmt.Sprintf(`{"action":"set","name":"v%d","value":%s}`, i, tt.value) }
			all := make([]exchange, 0, tt.fit+2)
			for i := range tt.fit {
				all = append(all, exchange{set(i), fmt.Sprintf("v%d is set (%s)", i, bytesOf(len(tt.value)))})
			}
			all = append(all, exchange{set(tt.fit), tt.want}, exchange{set(0), "v0 is set (" + bytesOf(len(tt.value)) + ")"})
			converse(t, "variables", all)
		})
	}
}

func bytesOf(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

func TestRepeatedCallsAreIdempotent(t *testing.T) {
	c := &conversation{store: &enginetest.Store{}}
	note, set := c.tool(t, "notepad"), c.tool(t, "variables")
	for range 3 {
		for _, call := range []func() (string, error){
			func() (string, error) { return note("r/step.s1/tool.0", `{"action":"add","text":"once"}`) },
			func() (string, error) { return set("r/step.s1/tool.1", `{"action":"set","name":"n","value":1}`) },
		} {
			if _, err := call(); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := c.store.Session(t.Context(), "m")
	if err != nil || len(got.Notes) != 1 || len(got.Variables) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestConcurrentCallsStoreAllNotes(t *testing.T) {
	c := &conversation{store: &enginetest.Store{}}
	add := c.tool(t, "notepad")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := add(fmt.Sprintf("k%d", i), `{"action":"add","text":"a"}`); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got, err := c.store.Session(t.Context(), "m"); err != nil || len(got.Notes) != 20 {
		t.Errorf("%d notes, %v", len(got.Notes), err)
	}
}

func TestSessionToolsDeclareTheirSessionPart(t *testing.T) {
	for name, part := range map[string]memory.SessionPart{"notepad": memory.NotesPart, "variables": memory.VariablesPart} {
		t.Run(name, func(t *testing.T) {
			f, _ := builtintool.All().Find(name)
			made, err := f.Build(f.Config(), tool.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if keeps, ok := made.(tool.SessionKeeper); !ok || keeps.SessionPart() != part {
				t.Errorf("it does not declare the session part %s", part)
			}
			if made.Info().Effect != tool.IdempotentEffect {
				t.Errorf("its effect is %s", made.Info().Effect)
			}
			fails(t, made, map[string]any{"action": "list"}, "memory.backend is none")
		})
	}
}

func TestAskUser(t *testing.T) {
	f, _ := builtintool.All().Find("ask_user")
	made, err := f.Build(f.Config(), tool.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	asker, ok := made.(tool.HumanTool)
	if !ok {
		t.Fatal("it does not ask")
	}
	tests := []struct {
		name, args string
		answers    []interrupt.Decision
		question   string
		answer     string
		wrong      string
	}{
		{"a question", `{"question":" Which one? "}`, nil, "Which one?", "", ""},
		{"its answer", `{"question":"Which one?"}`, []interrupt.Decision{{Do: "text", Text: "the blue one\n"}}, "", "the blue one", ""},
		{"yes", `{"question":"Really?"}`, []interrupt.Decision{{Do: "approve"}}, "", "yes", ""},
		{"no", `{"question":"Really?"}`, []interrupt.Decision{{Do: "deny", Reason: "too late"}}, "", "no: too late", ""},
		{"JSON", `{"question":"Which?"}`, []interrupt.Decision{{Do: "edit", Edit: json.RawMessage(`[1,2]`)}}, "", "[1,2]", ""},
		{"no answer", `{"question":"Which?"}`, []interrupt.Decision{{Do: "text"}}, "", "(the user gave no answer)", ""},
		{"no question", `{}`, nil, "", "", `"question" is missing`},
		{"a blank question", `{"question":" "}`, nil, "", "", `"question" is missing`},
		{"a long question", `{"question":"` + strings.Repeat("?", 4001) + `"}`, nil, "", "", "the limit is 4000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			q, out, err := asker.NextQuestion(json.RawMessage(tt.args), tt.answers)
			switch {
			case tt.wrong != "":
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("error %v, want %q", err, tt.wrong)
				}
			case err != nil:
				t.Error(err)
			case tt.question != "":
				if q == nil || q.Question != tt.question || q.Kind != interrupt.User {
					t.Errorf("asked %+v", q)
				}
			case q != nil || out == nil || out.Text != tt.answer:
				t.Errorf("asked %+v, gave %+v", q, out)
			}
		})
	}
}
