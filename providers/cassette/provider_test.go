package cassette_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/cassette"
)

// live is a model that returns predefined answers and records its requests.
type live struct {
	mu       sync.Mutex
	answers  []any // each a text or an error
	requests []model.Request
	output   string // the result of the run
}

func (l *live) Generate(_ context.Context, q *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next := l.answers[0]
	l.answers = l.answers[1:]
	l.requests = append(l.requests, *q)
	if err, ok := next.(error); ok {
		return nil, err
	}
	return &model.Reply{
		Text: next.(string), Stop: model.ToolUse, Model: "real-1", ID: "id-1", Usage: model.Tokens{Input: 12, Output: 3},
		Calls: []model.ToolCall{{ID: "c", Name: "look", Args: json.RawMessage(`{"q":1}`), Opaque: json.RawMessage(`"signed"`)}},
	}, nil
}

// callNode is a node that makes calls, some in parallel and then others in sequence, and answers with all replies.
type callNode struct {
	beside int
	calls  []model.Call
}

func (a callNode) Run(s engine.Scope) error {
	replies := make([]string, a.beside+len(a.calls))
	ask := func(s engine.Scope, i int, c model.Call) error {
		reply, err := s.Model("model", c)
		switch {
		case err == nil:
			replies[i] = reply.Text
		case model.AsError(err) != nil:
			replies[i] = string(model.AsError(err).Kind)
		default:
			return err
		}
		return nil
	}
	name := func(i int) string { return "beside." + string(rune('a'+i)) }
	err := s.Parallel(a.beside, name, func(i int, s engine.Scope) error { return ask(s, i, a.calls[0]) })
	for i, c := range a.calls {
		if err != nil {
			return err
		}
		err = ask(s.Child("ask."+string(rune('a'+i))), a.beside+i, c)
	}
	if err == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: strings.Join(replies, ",")}})
	}
	return err
}

func program(node engine.Node) *engine.Program {
	return &engine.Program{
		Name: "p", Digest: "sha256:p", Source: json.RawMessage("{}"), Nodes: map[string]engine.Node{"a": node},
		Graph: &graph.Graph[engine.Condition]{Start: "a", Nodes: []graph.Node{{ID: "a", Type: "test"}}},
		Models: []engine.ModelSpec{
			{Name: "main", Params: model.Params{Model: "big", MaxOutputTokens: 100}}, {Name: "other", Params: model.Params{Model: "small", MaxOutputTokens: 100}},
		},
		Limits: engine.Limits{MaxSteps: 9, MaxReplans: 9}, Memory: engine.MemorySettings{Backend: "none"},
	}
}

func runNode(j journal.Journal, node engine.Node, main, other model.Model) *engine.Result {
	h := engine.Host{Models: map[string]model.Model{"main": main, "other": other}}
	in := engine.Input{RunID: "r", Parameters: map[string]any{"question": "?"}}
	return runtime.Run(context.Background(), program(node), in, h, runtime.Options{Journal: j, Virtual: true})
}

// recordCalls records a run of the node and returns the cassette.
func recordCalls(t testing.TB, node engine.Node, secrets *secret.Values, answers ...any) (string, *live) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	r, err := cassette.New(&journal.Memory{}, path, secrets)
	if err != nil {
		t.Fatal(err)
	}
	l := &live{answers: answers}
	res := runNode(r, node, l, l)
	if res.Status != stop.RunCompleted {
		t.Fatalf("%s: %s", res.Status, res.Error)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	l.output = res.Response
	return path, l
}

func played(t testing.TB, path string, change func(*cassette.Config, *model.Settings)) model.Model {
	t.Helper()
	c, s := cassette.Config{File: filepath.Base(path)}, model.Settings{Name: "main", Dir: filepath.Dir(path)}
	if change != nil {
		change(&c, &s)
	}
	m, err := cassette.Build(&c, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// describeDifference returns the text of a reply, or the error.
func describeDifference(t testing.TB, m model.Model, q model.Request) string {
	t.Helper()
	reply, err := m.Generate(t.Context(), &q, nil)
	if err != nil {
		return err.Error()
	}
	return reply.Text
}

// query returns a call that uses every field of a request.
func query(text ...string) model.Call {
	return model.Call{
		Role: "executor", LLM: "main", StepID: "s1", Step: "find it",
		Messages: []model.Message{{Role: model.System, Text: model.Text{"be brief"}}, {Role: model.User, Text: text}},
		Tools:    []model.ToolDef{{Name: "look", Description: "looks", Input: json.RawMessage(`{"type": "object"}`)}},
		Schema:   &model.ReplySchema{Name: "out", Schema: json.RawMessage(`{"type": "object"}`)},
	}
}

func TestSameRequestGetsTheRecordedReply(t *testing.T) {
	path, was := recordCalls(t, callNode{calls: []model.Call{query("where is ", "the moss?")}}, nil, "green")
	const none = "the cassette run.jsonl has no reply to the executor's call 1 in step \"find it\"; the nearest recorded request is that of ask.a/model, which differs in its "
	warm := 0.5
	for _, row := range []struct {
		name   string
		change func(*model.Request)
		want   string
	}{
		{"as it was", func(*model.Request) {}, "green"},
		{"text cut elsewhere", func(q *model.Request) { q.Messages[1].Text = model.Text{"where", " is the moss?"} }, "green"},
		{"another call of the same", func(q *model.Request) { q.Call, q.Key = 7, "k" }, "green"},
		{"another model", func(q *model.Request) { q.Params.Model = "cassette" }, "green"},
		{"no model", func(q *model.Request) { q.Params.Model = "" }, "green"},
		{"a budget leaves less", func(q *model.Request) { q.Params.MaxOutputTokens, q.Bounded = 9, true }, "green"},
		{"fewer words wanted", func(q *model.Request) { q.Params.MaxOutputTokens = 9 }, none + `parameters (recorded "max_output_tokens: 100", now "max_output_tokens: 9")`},
		{"warmer", func(q *model.Request) { q.Params.Temperature = &warm }, none + `parameters (recorded nothing, now "temperature: 0.5")`},
		{"another question", func(q *model.Request) { q.Messages[1].Text = model.Text{"where is the fern?"} }, none + `messages (recorded "where is the moss?", now "where is the fern?")`},
		{"far into a line", func(q *model.Request) {
			q.Messages[0].Text = model.Text{"be brief" + strings.Repeat(" ", 200)}
		}, none + `messages (recorded "be brief", now "be brief` + strings.Repeat(" ", 72) + `…")`},
		{"a message more", func(q *model.Request) {
			q.Messages = append(q.Messages, model.Message{Role: model.Assistant, Text: model.Text{"hm"}})
		}, none + `messages (recorded nothing, now "[assistant]")`},
		{"a tool that changed", func(q *model.Request) { q.Tools[0].Description = "sees" }, none + `tool look (recorded "looks", now "sees")`},
		{"another schema", func(q *model.Request) { q.Schema.Schema = json.RawMessage(`{"type":"array"}`) }, none + `schema of the reply (recorded "\"type\": \"object\"", now "\"type\": \"array\"")`},
		{"another role", func(q *model.Request) { q.Role = "judge" }, `differs in its role (recorded "executor", now "judge")`},
		{"another step", func(q *model.Request) { q.Step = "lose it" }, `differs in its step (recorded "find it", now "lose it")`},
	} {
		t.Run(row.name, func(t *testing.T) {
			q := copied(t, was.requests[0])
			row.change(&q)
			got := describeDifference(t, played(t, path, nil), q)
			if row.want == "green" && got != row.want || !strings.Contains(strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(row.want), " ")) {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
			if row.want != "green" && !strings.HasSuffix(got, ": record again with the model itself: pexctl run SPEC --record run.jsonl") {
				t.Error("no way out:", got)
			}
		})
	}
}

// copied returns a deep copy of a request.
func copied(t testing.TB, q model.Request) model.Request {
	t.Helper()
	b, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var out model.Request
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReplyIsComplete(t *testing.T) {
	path, was := recordCalls(t, callNode{calls: []model.Call{query("?")}}, nil, "green")
	var pieces string
	got, err := played(t, path, nil).Generate(t.Context(), &was.requests[0], func(d model.Delta) { pieces += d.Text })
	want := &model.Reply{
		Text: "green", Stop: model.ToolUse, Model: "real-1", ID: "id-1", Usage: model.Tokens{Input: 12, Output: 3},
		Calls: []model.ToolCall{{ID: "c", Name: "look", Args: json.RawMessage(`{"q":1}`), Opaque: json.RawMessage(`"signed"`)}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || pieces != "green" {
		t.Errorf("%v, streamed %q: %s", err, pieces, diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := played(t, path, nil).Generate(ctx, &was.requests[0], nil); !errors.Is(err, context.Canceled) {
		t.Error("a call that nobody waits for:", err)
	}
}

func TestRecordedFailureIsReturned(t *testing.T) {
	fault := &model.Error{Kind: model.RateLimited, Status: 429, RetryAfter: 3 * time.Second, Message: "slow down", RequestID: "r-1", Attempts: 4}
	path, was := recordCalls(t, callNode{calls: []model.Call{query("?"), query("?")}}, nil, fault, "at last")
	m := played(t, path, nil)
	_, err := m.Generate(t.Context(), &was.requests[0], nil)
	var got *model.Error
	if !errors.As(err, &got) || cmp.Diff(fault, got) != "" {
		t.Errorf("%v", cmp.Diff(fault, got))
	}
	if got := describeDifference(t, m, was.requests[1]); got != "at last" {
		t.Error(got)
	}
}

func TestRepliesToSameRequestsAreInOrder(t *testing.T) {
	path, was := recordCalls(t, callNode{calls: []model.Call{query("?"), query("!"), query("?")}}, nil, "one", "other", "two")
	m := played(t, path, nil)
	for range 2 { // each run starts from the beginning
		run := m.(model.RunScoped).ForRun("r")
		got := []string{describeDifference(t, run, was.requests[2]), describeDifference(t, run, was.requests[1]), describeDifference(t, run, was.requests[0])}
		if diff := cmp.Diff([]string{"one", "other", "two"}, got); diff != "" {
			t.Error(diff)
		}
		const want = `no_reply: the cassette run.jsonl has no reply left to the executor's call 1 in step "find it": the same request was recorded 2 times; record again, or write options.repeat: true to get its last reply again`
		if got := describeDifference(t, run, was.requests[0]); got != want {
			t.Error(got)
		}
	}
	m = played(t, path, func(c *cassette.Config, _ *model.Settings) { c.Repeat = true })
	got := []string{describeDifference(t, m, was.requests[0]), describeDifference(t, m, was.requests[0]), describeDifference(t, m, was.requests[0]), describeDifference(t, m, was.requests[1]), describeDifference(t, m, was.requests[1])}
	if diff := cmp.Diff([]string{"one", "two", "two", "other", "other"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestModelNameChoosesBetweenRecordedModels(t *testing.T) {
	small := query("?")
	small.LLM = "other"
	path, was := recordCalls(t, callNode{calls: []model.Call{query("?"), small, query("?")}}, nil, "big one", "small one", "big two")
	for name, want := range map[string][]string{"small": {"small one"}, "big": {"big one", "big two"}, "": {"big one", "small one", "big two"}, "new": {"big one", "small one", "big two"}} {
		m, q := played(t, path, nil), was.requests[0]
		q.Params.Model = name
		var got []string
		for range want {
			got = append(got, describeDifference(t, m, q))
		}
		if diff := cmp.Diff(want, got); diff != "" || !strings.HasPrefix(describeDifference(t, m, q), "no_reply") {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestInvalidCassettes(t *testing.T) {
	path, was := recordCalls(t, callNode{calls: []model.Call{query("?")}}, nil, "green")
	edited := filepath.Join(t.TempDir(), "edited.jsonl")
	if err := os.WriteFile(edited, []byte(strings.ReplaceAll(content(t, path), "green", "greed")), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("links need rights here:", err)
	}
	for _, row := range []struct {
		name, path, want string
		change           func(*cassette.Config, *model.Settings)
	}{
		{"edited", edited, "the cassette edited.jsonl cannot be replayed: line 3 was changed", nil},
		{"none", filepath.Join(filepath.Dir(path), "none.jsonl"), "the cassette none.jsonl cannot be replayed: it does not exist", nil},
		{"a folder", filepath.Dir(path), "it is not a regular file", nil},
		{"a link out of the project", link, "path escapes", nil},
		{"outside", path, "../run.jsonl cannot be replayed: it is outside the project", func(c *cassette.Config, s *model.Settings) {
			c.File, s.Dir = "../run.jsonl", filepath.Join(s.Dir, "specs")
		}},
		{"absolute, outside", path, "it is outside the project: move it there, or allow its folder with --allow-path", func(c *cassette.Config, s *model.Settings) {
			c.File, s.Dir = path, t.TempDir()
		}},
		{"outside of the spec's folder, in the project", path, "green", func(c *cassette.Config, s *model.Settings) {
			c.File, s.Root, s.Dir = "../run.jsonl", s.Dir, filepath.Join(s.Dir, "specs")
		}},
		{"opened", path, "green", func(c *cassette.Config, s *model.Settings) {
			c.File, s.Dir, s.Allow = path, t.TempDir(), []string{filepath.Dir(path)}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := describeDifference(t, played(t, row.path, row.change), was.requests[0]); !strings.Contains(got, row.want) {
				t.Error(got)
			}
		})
	}
	if _, err := cassette.Build(&cassette.Config{}, model.Settings{}); err == nil || !strings.Contains(err.Error(), "options.file") {
		t.Error(err)
	}
}

// A run that is interrupted anywhere continues with the unused replies.
func TestInterruptedRunUsesTheSameReplies(t *testing.T) {
	node := callNode{beside: 3, calls: []model.Call{query("?"), query("!"), query("?")}}
	path, was := recordCalls(t, node, nil, "a", "b", &model.Error{Kind: model.ServerError}, "d", "e", "f")
	whole := &journal.Memory{}
	m := played(t, path, nil)
	res := runNode(whole, node, m, nil)
	if res.Status != stop.RunCompleted || res.Response != was.output {
		t.Fatalf("%s: %q %s", res.Status, res.Response, res.Error)
	}
	for n := range whole.Records {
		cut := &journal.Memory{Records: append([]journal.Record(nil), whole.Records[:n]...)}
		if again := runNode(cut, node, m, nil); again.Response != res.Response {
			t.Errorf("cut behind record %d: %q %s", n, again.Response, again.Error)
		}
	}
}

func TestConcurrentCalls(t *testing.T) {
	calls := make([]model.Call, 20)
	answers := make([]any, len(calls))
	for i := range calls {
		calls[i], answers[i] = query("?"), string(rune('a'+i))
	}
	path, was := recordCalls(t, callNode{calls: calls}, nil, answers...)
	m := played(t, path, nil)
	got := make([]string, len(calls))
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() { got[i] = describeDifference(t, m, was.requests[0]) })
	}
	wait.Wait()
	unique := map[string]bool{}
	for _, s := range got {
		unique[s] = true
	}
	if len(unique) != len(calls) {
		t.Errorf("not each once: %q", got)
	}
}

func FuzzPlayed(f *testing.F) {
	path, was := recordCalls(f, callNode{calls: []model.Call{query("?")}}, nil, "green")
	f.Add([]byte(content(f, path)))
	f.Add([]byte("{}\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(dir, "fuzzed.jsonl")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		reply, err := played(t, path, nil).Generate(t.Context(), &was.requests[0], nil)
		if (reply == nil) == (err == nil) {
			t.Error(reply, err)
		}
	})
}
