package serve_test

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/engine/interrupt"
)

// connect connects a client over streams. Its user fills in forms with elicit; nil = it has none.
func connect(t *testing.T, w *world, version string, elicit func(*sdk.ElicitParams) *sdk.ElicitResult) *sdk.ClientSession {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	o := &sdk.ClientOptions{}
	if elicit != nil {
		o.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return elicit(r.Params), nil }
	}
	served := make(chan error, 1)
	go func() { served <- w.server(time.Second).ServeIO(t.Context(), toServer, fromServer) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, o).
		Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close() // closes the streams
		<-served
	})
	return c
}

const (
	older  = "2025-11-25"
	newest = "2026-07-28"
)

func text(t *testing.T, res *sdk.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Content) != 1 {
		t.Fatalf("%+v", res)
	}
	return res.Content[0].(*sdk.TextContent).Text
}

func TestAnnotationsFollowFromTheEffectsOfTools(t *testing.T) {
	c := connect(t, newWorld(t), newest, nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, tool := range list.Tools {
		var hints []string
		if tool.Annotations.ReadOnlyHint {
			hints = append(hints, "reads")
		}
		if *tool.Annotations.DestructiveHint {
			hints = append(hints, "destroys")
		}
		got[tool.Name] = strings.Join(hints, " ")
	}
	want := map[string]string{"hello": "reads", "refund": "destroys", "typed": "", "nested": "destroys", "run_get": "reads", "run_answer": "destroys", "run_cancel": "destroys"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The user of a client with forms answers: while the call is open, or in a second call.
func TestQuestionsAreElicited(t *testing.T) {
	for _, version := range []string{older, newest} {
		w := newWorld(t)
		var mu sync.Mutex
		var asked []string
		c := connect(t, w, version, func(p *sdk.ElicitParams) *sdk.ElicitResult {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, p.Message)
			if strings.HasPrefix(p.Message, "Approve") {
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "deny", "reason": "too much"}}
			}
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "the old one"}}
		})
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "refund"})
		if got := text(t, res, err); got != "4" || res.IsError {
			t.Error(version, got)
		}
		if d := cmp.Diff([]string{"s1/tool.0.approval=deny:too much", "s2/tool.0=the old one"}, w.answers); d != "" {
			t.Error(version, d)
		}
		slices.Sort(asked)
		if d := cmp.Diff([]string{"Approve the call of pay?\n\n{\n  \"amount\": 80\n}", "Which account?"}, asked); d != "" {
			t.Error(version, d)
		}
	}
}

// A model cannot answer for the user of a client with forms.
func TestTheUserDecidesWhatAModelAnswers(t *testing.T) {
	for _, version := range []string{older, newest} {
		w := newWorld(t)
		var closed atomic.Bool
		closed.Store(true)
		c := connect(t, w, version, func(p *sdk.ElicitParams) *sdk.ElicitResult {
			switch {
			case closed.Load():
				return &sdk.ElicitResult{Action: "cancel"}
			case strings.HasPrefix(p.Message, "Approve"):
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "deny"}}
			}
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "none"}}
		})
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "refund"})
		if got := text(t, res, err); !strings.HasPrefix(got, "Run r-1 waits") {
			t.Fatal(version, got)
		}
		answer := &sdk.CallToolParams{Name: "run_answer", Arguments: map[string]any{"run": "r-1", "path": "s1/tool.0.approval", "answer": "approve"}}
		res, err = c.CallTool(t.Context(), answer)
		if got := text(t, res, err); !strings.HasPrefix(got, "Run r-1 waits") || len(w.answers) > 0 {
			t.Error(version, got, w.answers)
		}
		closed.Store(false)
		res, err = c.CallTool(t.Context(), answer)
		if got := text(t, res, err); got != "4" {
			t.Error(version, got)
		}
		if d := cmp.Diff([]string{"s1/tool.0.approval=deny", "s2/tool.0=none"}, w.answers); d != "" {
			t.Error(version, d)
		}
	}
}

// A question that the user does not decide stays open.
func TestAUserWhoMakesNoDecision(t *testing.T) {
	w := newWorld(t)
	c := connect(t, w, older, func(*sdk.ElicitParams) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "cancel"} })
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "refund"})
	if got := text(t, res, err); !strings.HasPrefix(got, "Run r-1 waits for a decision.") || len(w.answers) > 0 {
		t.Error(got, w.answers)
	}
}

// The form for each kind of questions, and the answers that it gives.
func TestFormsOfQuestions(t *testing.T) {
	server := json.RawMessage(`{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`)
	for _, tt := range []struct {
		question interrupt.Question
		form     *sdk.ElicitResult
		want     string // "" = no decision
	}{
		{interrupt.Question{Kind: interrupt.Plan}, &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve", "reason": "x"}}, "approve"},
		{interrupt.Question{Kind: interrupt.Approval, Tool: "pay"}, &sdk.ElicitResult{Action: "decline"}, "deny"},
		{interrupt.Question{Kind: interrupt.Guard}, &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "deny"}}, "deny"},
		{interrupt.Question{Kind: interrupt.Review}, &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "done", "result": "{}"}}, "done:{}"},
		{interrupt.Question{Kind: interrupt.Review}, &sdk.ElicitResult{Action: "decline"}, ""},
		{interrupt.Question{Kind: interrupt.Elicitation, Args: server}, &sdk.ElicitResult{Action: "accept", Content: map[string]any{"city": "Oslo"}}, `edit:{"city":"Oslo"}`},
		{interrupt.Question{Kind: interrupt.Elicitation, Args: json.RawMessage(`{"url": "https://example.com"}`)}, &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, "approve"},
		{interrupt.Question{Kind: interrupt.User}, &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "  "}}, ""},
	} {
		w := newWorld(t)
		tt.question.Path = "p"
		w.asks["refund"] = []interrupt.Question{tt.question}
		c := connect(t, w, older, func(*sdk.ElicitParams) *sdk.ElicitResult { return tt.form })
		res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "refund"})
		got := strings.TrimPrefix(strings.Join(w.answers, " "), "p=")
		if said := text(t, res, err); got != tt.want || strings.Contains(said, "waits for a decision") != (tt.want == "") {
			t.Errorf("%s: %q, want %q: %s", tt.question.Kind, got, tt.want, said)
		}
	}
}

// A question that someone else answers is withdrawn, and the call continues.
func TestAQuestionThatSomeoneElseAnswers(t *testing.T) {
	w := newWorld(t)
	w.asks["refund"] = w.asks["refund"][:1]
	returned := make(chan struct{})
	c := connect(t, w, older, func(*sdk.ElicitParams) *sdk.ElicitResult {
		w.mu.Lock()
		w.runs["r-1"].Interrupts = nil
		w.mu.Unlock()
		w.closeQuestion()
		<-returned // its user does nothing
		return &sdk.ElicitResult{Action: "cancel"}
	})
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "refund"})
	close(returned)
	if got := text(t, res, err); got != "4" || len(w.answers) > 0 {
		t.Error(got, w.answers)
	}
}

// A client that may not answer is not asked.
func TestAClientThatMayNotAnswer(t *testing.T) {
	w := newWorld(t)
	w.isViewer = true
	c := connect(t, w, older, func(*sdk.ElicitParams) *sdk.ElicitResult { t.Error("it was asked"); return nil })
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "refund"})
	if got := text(t, res, err); !strings.HasPrefix(got, "Run r-1 waits for the decision of someone who may approve") || strings.Contains(got, "run_answer") {
		t.Error(got)
	}
}

// An agent with an output schema has structured results. While it has none, the result is an
// error, since clients reject others.
func TestStructuredResults(t *testing.T) {
	w := newWorld(t)
	c := connect(t, w, newest, nil)
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "typed"})
	if text(t, res, err); res.IsError || !cmp.Equal(res.StructuredContent, any(map[string]any{"sum": 4.0})) {
		t.Errorf("%+v", res)
	}
	w.mu.Lock()
	w.asks["typed"] = []interrupt.Question{{Path: "p", Kind: interrupt.Plan}}
	w.mu.Unlock()
	if res, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "typed"}); !strings.Contains(text(t, res, err), "Approve the plan?") || !res.IsError {
		t.Errorf("%+v", res)
	}
}

func TestARunThatTakesLongerNamesItself(t *testing.T) {
	w := newWorld(t)
	w.slow = true
	c := connect(t, w, older, nil)
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "hello", Arguments: map[string]any{"question": "2+2"}})
	if got := text(t, res, err); got != `Run r-1 is in progress and continues. Call run_get with run "r-1" to wait for its result.` || res.Meta["pexctl.dev/run_id"] != "r-1" {
		t.Error(got, res.Meta)
	}
	w.mu.Lock()
	w.slow = false
	w.mu.Unlock()
	res, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "run_get", Arguments: map[string]any{"run": "r-1", "wait": true}})
	if got := text(t, res, err); got != "4" {
		t.Error(got)
	}
}
