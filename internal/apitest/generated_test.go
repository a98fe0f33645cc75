package apitest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/manager"
)

// fixtures are runs of the default tenant, of another one, and of an agent that only admins see.
var fixtures = []string{"ours", "theirs", "hidden", "new-1", "new-2", "none"}

// canaries are secrets, by the clients that may see them.
var canaries = map[string][]string{
	// in the environment: the key of a provider, references of a spec, and a variable that nothing names
	"canary-provider-key": nil, "canary-tool-token": nil, "canary-tool-host": nil, "canary-environment": nil,
	// tokens of other clients and their hashes
	"pex_" + "00000000000000000000000000000000": nil, "sha256": nil,
	// files beside the specs and in the home
	"canary-file": nil, "canary-trust": nil,
	// another tenant
	"canary-their-question": {"eve"}, "canary-their-label": {"eve"},
	// an agent with roles, and its run
	"canary-hidden-agent": {"root", "eve"}, "canary-hidden-answer": {"root", "eve"}, "canary-hidden-question": {"root"},
}

// fuzzing is a server that receives generated requests.
type fuzzing struct {
	*listening
	count    atomic.Int64
	statuses [600]atomic.Int64
}

// Generated requests, half of them valid, get neither an internal error nor a secret, path or
// stack of the server. PEX_API_FUZZ is how long it takes, such as 5m.
func TestGeneratedRequests(t *testing.T) {
	length := 2 * time.Second
	if s := os.Getenv("PEX_API_FUZZ"); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	seed := rand.Uint64()
	if s := os.Getenv("PEX_API_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"OPENAI_API_KEY": "canary-provider-key", "CANARY_TOKEN": "canary-tool-token", "CANARY_HOST": "canary-tool-host", "CANARY_ENV": "canary-environment",
	} {
		t.Setenv(name, value)
	}
	limits := manager.Limits{Running: 16, Waiting: 100}
	f := &fuzzing{listening: listen(t, "fuzz", limits, server.Options{}, func(o *manager.Options) { o.CostPerDay = 1000 })}
	f.restore()
	deadline := time.Now().Add(length)
	var workers sync.WaitGroup
	for i := range uint64(4) {
		g, err := newGenerator(seed + i)
		if err != nil {
			t.Fatal(err)
		}
		workers.Go(func() {
			for time.Now().Before(deadline) && !t.Failed() {
				f.try(g)
			}
		})
	}
	for time.Now().Before(deadline) && !t.Failed() {
		time.Sleep(100 * time.Millisecond)
		f.restore()
	}
	workers.Wait()
	for line := range strings.Lines(f.log.String()) {
		if strings.Contains(line, "level=ERROR") && !strings.Contains(line, "status=507") || strings.Contains(line, "panic") {
			t.Errorf("the log has an error: %s", line)
		}
		if leaked := leaks("", line); leaked != "" {
			t.Errorf("the log has %s: %s", leaked, line)
		}
	}
	t.Logf("seed %d: %d requests, %s", seed, f.count.Load(), f.report())
}

// restore starts the fixtures that were deleted, and removes what the requests started.
func (f *fuzzing) restore() {
	for _, run := range []struct{ client, agent, body string }{
		{"root", "desk", `{"question": "ours", "run_id": "ours", "memory_id": "chat"}`},
		{"eve", "desk", `{"question": "canary-their-question", "run_id": "theirs", "memory_id": "theirs", "labels": {"of": "canary-their-label"}}`},
		{"root", "secret", `{"question": "canary-hidden-question", "run_id": "hidden", "memory_id": "hidden"}`},
	} {
		if a := f.post(run.client, run.agent, run.body); a.StatusCode >= 400 && a.StatusCode != 503 && a.member("code") != "conversation_busy" {
			f.t.Errorf("%d %s", a.StatusCode, a.body)
		}
	}
	for _, tenant := range f.tenants {
		if _, err := tenant.Manager.RemoveEnded(f.t.Context(), time.Now().Add(-time.Second)); err != nil {
			f.t.Error(err)
		}
	}
	ctx := f.t.Context()
	waiting := f.get("root", "/v1/questions")
	var list struct {
		Questions []struct {
			Run string `json:"run_id"`
		} `json:"questions"`
	}
	if err := json.Unmarshal([]byte(waiting.body), &list); err != nil {
		f.t.Error(waiting.body)
	}
	for i, q := range list.Questions {
		if i > 20 && q.Run != "ours" {
			_ = f.tenants[""].Manager.Remove(ctx, q.Run, true) // it may execute
		}
	}
}

// try sends a request and checks the response.
func (f *fuzzing) try(g *generator) {
	r := g.request()
	client := pick(g, []string{"ann", "bea", "vic", "root", "eve", "none", ""})
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, r.method, "http://"+f.address+r.target, strings.NewReader(r.body))
	if err != nil {
		return // not a request of HTTP
	}
	if client != "" {
		request.Header.Set("Authorization", "Bearer "+token(client))
	}
	for _, h := range r.headers {
		request.Header.Set(h[0], h[1])
	}
	res, err := f.client.Do(request)
	if err != nil {
		if !strings.Contains(err.Error(), "invalid header field") {
			f.t.Errorf("%s: %v\n%s", client, err, r)
		}
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Errorf("%s: %v\n%s", client, err, r)
		return
	}
	f.count.Add(1)
	f.statuses[res.StatusCode].Add(1)
	if why := f.wrong(client, r, res, string(body)); why != "" {
		f.t.Errorf("%s: %s\n%s\n-> %d %v\n%.3000s", client, why, r, res.StatusCode, res.Header, body)
	}
}

// wrong returns what is wrong with a response, or "".
func (f *fuzzing) wrong(client string, r generated, res *http.Response, body string) string {
	kind := res.Header.Get("Content-Type")
	switch {
	case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "":
		return "no Retry-After"
	case res.StatusCode == http.StatusInsufficientStorage && strings.Contains(body, `"artifacts_full"`): // of the tenant
	case res.StatusCode >= 500 && res.StatusCode != http.StatusServiceUnavailable:
		return "the server failed"
	case strings.Contains(body, "goroutine ") || strings.Contains(body, ".go:"):
		return "a stack"
	case strings.Contains(body, f.dir):
		return "a path of the server"
	case res.StatusCode >= 400 && r.method != http.MethodHead && kind != "application/problem+json":
		return "not a problem"
	case strings.HasSuffix(kind, "json") && r.method != http.MethodHead && !json.Valid([]byte(body)):
		return "invalid JSON"
	}
	text := fmt.Sprint(body, res.Header)
	if client != "" {
		text = strings.ReplaceAll(text, token(client), "")
	}
	if leaked := leaks(client, text); leaked != "" {
		return "a secret: " + leaked
	}
	return ""
}

// leaks returns a canary in a text that a client must not see, or "".
func leaks(client, text string) string {
	for canary, clients := range canaries {
		if canary == "sha256" {
			canary = hashOf("root")
		}
		allowed := false
		for _, c := range clients {
			allowed = allowed || c == client
		}
		if !allowed && strings.Contains(text, canary) {
			return canary
		}
	}
	return ""
}

// report returns how many responses had each status.
func (f *fuzzing) report() string {
	var out []string
	for status := range f.statuses {
		if n := f.statuses[status].Load(); n > 0 {
			out = append(out, fmt.Sprintf("%d: %d", status, n))
		}
	}
	return strings.Join(out, ", ")
}
