package apiclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/internal/app/apiclient"
)

// newClient returns a client of a server that handle implements. It does not wait.
func newClient(t *testing.T, handle http.HandlerFunc) *apiclient.Client {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	c, err := apiclient.New(apiclient.Settings{URL: s.URL + "/v1/", Token: "pex_secret", Pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func refuse(w http.ResponseWriter, status int, problem string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, problem)
}

func TestInvalidURLs(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:8484", "ftp://x", "http://", "http://u:p@x", "http://x/?token=y", "http://x/#y", "http://x:%"} {
		if _, err := apiclient.New(apiclient.Settings{URL: url}); err == nil {
			t.Errorf("%q is accepted", url)
		}
	}
	if _, err := apiclient.New(apiclient.Settings{URL: "http://u:hunter2@x"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

// The token is sent to the server only, not to where it redirects.
func TestRequests(t *testing.T) {
	var got []string
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, strings.TrimSpace(r.Method+" "+r.URL.RequestURI()+" "+string(b)))
		if r.Header.Get("Authorization") != "Bearer pex_secret" || strings.HasPrefix(string(b), "{") && r.Header.Get("Content-Type") != "application/json" {
			t.Error(r.Header)
		}
		switch r.URL.Path {
		case "/v1/runs/old":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
		case "/v1/runs/a b/cancel":
			fmt.Fprint(w, `{"run_id":"a b","status":"completed"}`)
		case "/v1/artifacts":
			fmt.Fprint(w, `{"sha256":"5e884898","size":7}`)
		default:
			fmt.Fprint(w, `{}`)
		}
	})
	ctx := t.Context()
	var err error
	try := func(e error) { err = errors.Join(err, e) }
	try(c.Start(ctx, "my/agent", apiclient.NewRun{RunID: "r-1", Parameters: map[string]any{"n": 1}, Earlier: []apiclient.Message{{Role: "user", Content: "hi"}}}))
	try(c.Answer(ctx, "r-1", apiclient.Answer{Path: "plan.1/approval", Do: "edit", Edit: json.RawMessage(`["x"]`)}))
	try(c.Resume(ctx, "r-1", nil, true))
	status, e := c.Cancel(ctx, "a b")
	try(e)
	try(c.Fork(ctx, "r-1", apiclient.Fork{RunID: "r-2", At: "step.s1"}))
	_, e = c.AgentModels(ctx, "my/agent")
	try(e)
	try(c.Delete(ctx, "r-1", true))
	_, e = c.List(ctx, apiclient.Filter{Status: "failed", Prefix: "r-", MemoryID: "m 1", Agent: "desk", Labels: map[string]string{"team": "a&b"}}, 5, "x/y")
	try(e)
	id, e := c.Upload(ctx, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("content")), nil })
	try(e)
	if id != "5e884898" {
		t.Errorf("uploaded as %q", id)
	}
	if err != nil || status != "completed" {
		t.Error(status, err)
	}
	want := []string{
		`POST /v1/agents/my%2Fagent/runs {"parameters":{"n":1},"earlier":[{"role":"user","content":"hi"}],"run_id":"r-1"}`,
		`POST /v1/runs/r-1/answers {"path":"plan.1/approval","do":"edit","edit":["x"]}`,
		`POST /v1/runs/r-1/resume {"keep_spec":true,"set":[]}`,
		`POST /v1/runs/a%20b/cancel`,
		`POST /v1/runs/r-1/fork {"run_id":"r-2","at":"step.s1"}`,
		`GET /v1/agents/my%2Fagent`,
		`DELETE /v1/runs/r-1?force=true`,
		`GET /v1/runs?agent=desk&cursor=x%2Fy&label=team%3Da%26b&limit=5&memory_id=m+1&prefix=r-&status=failed`,
		`POST /v1/artifacts content`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, _, err := c.Result(ctx, "old", false); err == nil || !strings.Contains(err.Error(), "is not a server of agents: status 307") {
		t.Error(err)
	}
}

func TestProblemsBecomeErrors(t *testing.T) {
	calls := 0
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		switch r.URL.Path {
		case "/v1/runs/gone":
			refuse(w, 404, `{"code":"not_found","detail":"no run \"gone\""}`)
		case "/v1/runs/busy":
			w.Header().Set("Retry-After", "5")
			refuse(w, 503, `{"code":"shutting_down","detail":"the server is shutting down"}`)
		case "/v1/runs/set/resume":
			refuse(w, 422, `{"code":"invalid_set","detail":"the spec has errors with these overrides","diagnostics":[{"message":"one"},{"message":"two"}]}`)
		default:
			fmt.Fprint(w, "<html>")
		}
	})
	if err := c.Resume(t.Context(), "set", nil, false); err == nil || err.Error() != "the spec has errors with these overrides: one; two" {
		t.Error(err)
	}
	calls = 0
	_, _, err := c.Result(t.Context(), "gone", false)
	if e, ok := errors.AsType[*apiclient.Error](err); !ok || e.Status != 404 || !apiclient.IsCode(err, apiclient.NotFound) || err.Error() != `no run "gone"` || calls != 1 {
		t.Error(calls, err)
	}
	_, _, err = c.Result(t.Context(), "busy", false)
	if e, ok := errors.AsType[*apiclient.Error](err); !ok || e.RetryAfter != "5" || calls != 4 { // it may recover
		t.Error(calls, err)
	}
	if _, _, err = c.Result(t.Context(), "page", false); err == nil || !strings.HasPrefix(err.Error(), "invalid response of http://127.0.0.1:") {
		t.Error(err)
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	c, err := apiclient.New(apiclient.Settings{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Agents(t.Context()); !errors.As(err, new(*apiclient.ConnectionError)) || strings.Count(err.Error(), s.URL) != 1 {
		t.Error(err)
	}
}

// A run is watched over as many connections as it takes: no event is lost or repeated.
func TestWatchReconnects(t *testing.T) {
	var after []string
	answers := []func(http.ResponseWriter){
		func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"v":1,"seq":1,"type":"run.started"}`+"\n"+`{"v":1,"seq":2,"type":"model.started"}`+"\n"+`{"v":1,"seq":0,"type":"model.delta","text":"x"}`+"\n")
		},
		func(w http.ResponseWriter) { refuse(w, 503, `{"code":"shutting_down","detail":"down"}`) },
		func(w http.ResponseWriter) { fmt.Fprint(w, `{"type":"ping"}`+"\n"+`{"v":1,"seq":3`) }, // cut
		func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"type":"rewound","after":1}`+"\n"+`{"v":1,"seq":2,"rewinds":1,"type":"run.completed"}`+"\n"+`{"type":"end","status":"completed"}`+"\n"+`{"v":1,"seq":9}`+"\n")
		},
	}
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/runs/r-1/events" || r.Header.Get("Accept") != "application/jsonl" {
			t.Error(r.URL, r.Header)
		}
		after = append(after, r.Header.Get("Last-Event-ID"))
		answers[len(after)-1](w)
	})
	var got []string
	w := &apiclient.Watcher{
		Event:   func(e engine.Event) { got = append(got, fmt.Sprintf("%d.%d %s", e.Rewinds, e.Seq, e.Type)) },
		Rewound: func(n int) { got = append(got, fmt.Sprint("rewound after ", n)) },
		Broken:  func(error) { got = append(got, "broken") },
	}
	status, err := c.Watch(t.Context(), "r-1", w)
	if status != "completed" || err != nil || w.After != "1.2" {
		t.Error(status, err, w.After)
	}
	if diff := cmp.Diff([]string{"", "0.2", "0.2", "0.2"}, after); diff != "" {
		t.Error(diff)
	}
	want := []string{"0.1 run.started", "0.2 model.started", "0.0 model.delta", "broken", "broken", "rewound after 1", "1.2 run.completed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Errors that a repetition does not fix end the watch at once, others after some attempts.
func TestWatchGivesUp(t *testing.T) {
	for status, want := range map[int]int{404: 1, 503: 10} {
		calls := 0
		c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
			calls++
			refuse(w, status, `{"code":"x","detail":"no"}`)
		})
		if _, err := c.Watch(t.Context(), "r-1", &apiclient.Watcher{Event: func(engine.Event) {}}); err == nil || calls != want {
			t.Errorf("%d: %d calls, %v", status, calls, err)
		}
	}
}

// The JSON of a result stays as the server sent it; its parts are compact.
func TestResult(t *testing.T) {
	const sent = "{\n  \"run_id\": \"r-1\",\n  \"output\": null,\n  \"interrupts\": [\n    {\"path\": \"p\", \"args\": {\n      \"n\": 1\n    }}\n  ]\n}\n"
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != "/v1/runs/r-1?include=conversation" {
			t.Error(r.URL)
		}
		_, _ = io.WriteString(w, sent)
	})
	res, raw, err := c.Result(t.Context(), "r-1", true)
	if err != nil || string(raw)+"\n" != sent || res.Output != nil || string(res.Interrupts[0].Args) != `{"n":1}` {
		t.Errorf("%v %q %+v", err, raw, res)
	}
}

// Links are the server's: the result is the same as that of a local run.
func TestResultWithoutLinks(t *testing.T) {
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"run_id": "r-1", "usage": {"links": 1}, "links": {"self": "/v1/runs/r-1"}}`)
	})
	if _, raw, err := c.Result(t.Context(), "r-1", false); err != nil || string(raw) != `{"run_id":"r-1","usage":{"links": 1}}` {
		t.Errorf("%v %s", err, raw)
	}
}

// The feed of a run that waits ends before its cancellation.
func TestAwaitEnd(t *testing.T) {
	calls := 0
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		fmt.Fprintf(w, `{"type":"end","status":"%s"}`+"\n", map[bool]string{true: "cancelled", false: "interrupted"}[calls == 3])
	})
	if err := c.AwaitEnd(t.Context(), "r-1"); err != nil || calls != 3 {
		t.Error(calls, err)
	}
}

func TestFirstEvent(t *testing.T) {
	c := newClient(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"v":1,"seq":1,"type":"run.started","question":"why?"}`+"\n"+`{"v":1,"seq":2,"type":"run.completed"}`+"\n"+`{"type":"end","status":"completed"}`+"\n")
	})
	if e, err := c.First(t.Context(), "r-1"); err != nil || e.Question != "why?" {
		t.Error(e, err)
	}
}

// A run at a server joins the trace of whoever starts it.
func TestRequestsCarryTheCaller(t *testing.T) {
	var got []string
	c := newClient(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("traceparent")+" "+r.Header.Get("tracestate"))
		_, _ = io.WriteString(w, "{}")
	})
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	caller := tracecontext.Caller{Parent: parent, State: "a=b"}
	for _, ctx := range []context.Context{t.Context(), tracecontext.With(t.Context(), caller)} {
		if err := c.Start(ctx, "a", apiclient.NewRun{RunID: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{" ", parent + " a=b"}, got); diff != "" {
		t.Error(diff)
	}
}
