package apitest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/manager"
)

// The tests of this file and of badconnection_test.go send what clients must not send, through the
// whole server. internal/servetest does the same with a full disk, and with killed servers.

var roomy = manager.Limits{Running: 8, RunningPerTenant: 8, Waiting: 8}

func unchanged(*manager.Options) {}

func TestBadBodiesLeaveTheConnectionUsable(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{Limits: server.Limits{Body: 100_000}}, unchanged)
	l.get("ann", "/v1/agents")
	for name, tt := range map[string]struct {
		body, code, pointer string
		status              int
	}{
		"over the limit":  {`{"question": "` + strings.Repeat("x", 100_000) + `"}`, "too_large", "", 413},
		"10,000 deep":     {`{"parameters": ` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`, "invalid_json", "/parameters" + strings.Repeat("/0", 99), 400},
		"10,000 open":     {strings.Repeat(`{"a":`, 10_000), "invalid_json", strings.Repeat("/a", 100), 400},
		"duplicate keys":  {`{"question": "a", "question": "b"}`, "invalid_json", "/question", 400},
		"nested":          {`{"parameters": {"a/b": {"x": 1, "x": 2}}}`, "invalid_json", "/parameters/a~1b/x", 400},
		"escaped":         {`{"question": "a", "quest\u0069on": "b"}`, "invalid_json", "/question", 400},
		"not UTF-8":       {"{\"question\": \"\xff\"}", "invalid_json", "/question", 400},
		"key not UTF-8":   {"{\"\xff\": 1}", "invalid_json", "", 400},
		"NUL":             {"{\"question\": \"\x00\"}", "invalid_json", "/question", 400},
		"escaped NUL":     {`{"question": "\u0000"}`, "invalid_json", "/question", 400},
		"two values":      {`{} {}`, "invalid_json", "", 400},
		"a byte order":    {"\ufeff{}", "invalid_json", "", 400},
		"another charset": {"{\x00}\x00", "invalid_json", "", 400},
	} {
		a := l.post("ann", "hello", tt.body)
		if a.StatusCode != tt.status || a.member("code") != tt.code || a.member("pointer") != tt.pointer {
			t.Errorf("%s: %d %s %.300s", name, a.StatusCode, a.member("pointer"), a.body)
		}
		if a := l.get("ann", "/v1/runs"); a.StatusCode != 200 || a.member("runs") != "[]" || !l.reused {
			t.Errorf("after %s: %d %s, same connection %v", name, a.StatusCode, a.body, l.reused)
		}
	}
}

func TestWhatIsUnknownIsLikeWhatBelongsToOthers(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	l.post("ann", "desk", `{"question": "hi", "run_id": "r-1"}`)
	l.await("r-1")
	for _, paths := range [][2]string{
		{"/v1/runs/r-1", "/v1/runs/r-2"},
		{"/v1/runs/r-1/events", "/v1/runs/r-2/events"},
		{"/v1/runs/r-1/calls/plan.1/model", "/v1/runs/r-2/calls/plan.1/model"},
	} {
		theirs, unknown := l.get("eve", paths[0]), l.get("eve", paths[1])
		if theirs.StatusCode != 404 || theirs.body != strings.ReplaceAll(unknown.body, "r-2", "r-1") {
			t.Errorf("%s: %d %s\n%d %s", paths[0], theirs.StatusCode, theirs.body, unknown.StatusCode, unknown.body)
		}
	}
	l.want(l.post("ann", "nobody", `{"question": "hi"}`), 404, "not_found", "")
	if a := l.send("", http.MethodGet, "/v1/runs/r-1", nil, "Authorization", "Bearer "+token("nobody")); a.StatusCode != 401 {
		t.Errorf("an unknown token: %d %s", a.StatusCode, a.body)
	}
}

func TestParametersOfAWrongType(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	a := l.post("ann", "hello", `{"question": "hi", "run_id": "r-1", "parameters": {"amount": "much"}}`)
	l.want(a, 422, "invalid_parameters", "/parameters/amount")
	l.missing("r-1")
}

func TestOverridesBeyondTheAllowedOnes(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	for _, set := range []string{"planner.llm=x", "llms.main.options.file=/etc/passwd", "llms.main.model=${env.HOME}", "tools.calculator.approval=never", "limits.max_cost=${file:/etc/passwd}"} {
		a := l.post("ann", "hello", `{"question": "hi", "run_id": "r-1", "set": ["limits.max_steps=3", "`+set+`"]}`)
		l.want(a, 403, "set_not_allowed", "/set/1")
		if a.member("allowed") == "" {
			t.Errorf("%s: the reply does not list what is allowed: %s", set, a.body)
		}
	}
	l.missing("r-1")
}

func TestAnIdempotencyKeyWithAnotherBody(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	if a := l.post("ann", "hello", `{"question": "hi"}`, "Idempotency-Key", "k"); a.StatusCode != 201 {
		t.Fatal(a.StatusCode, a.body)
	}
	l.want(l.post("ann", "hello", `{"question": "ho"}`, "Idempotency-Key", "k"), 422, "idempotency_mismatch", "")
}

// A rate, a quota and the queue reject a request with Retry-After, and start nothing.
func TestRequestsBeyondTheLimits(t *testing.T) {
	rejected := func(l *listening, a answer, status int, code, run string) {
		t.Helper()
		l.want(a, status, code, "")
		if after, err := strconv.Atoi(a.Header.Get("Retry-After")); err != nil || after < 1 || after > 24*60*60 {
			t.Errorf("%s: Retry-After is %q", code, a.Header.Get("Retry-After"))
		}
		l.missing(run)
	}
	waits := func(o *manager.Options) { o.ParkAfter = 1 << 60 }

	l := listen(t, "bad-input", manager.Limits{Running: 8, Waiting: 8, PerMinutePerTenant: 1}, server.Options{}, unchanged)
	l.post("ann", "hello", `{"question": "hi"}`)
	rejected(l, l.post("ann", "hello", `{"question": "hi", "run_id": "late"}`), 429, "rate_limited", "late")

	l = listen(t, "bad-input", manager.Limits{Running: 1, Waiting: 1}, server.Options{}, waits)
	for _, run := range []string{"runs", "queued"} {
		if a := l.post("ann", "desk", `{"question": "hi", "run_id": "`+run+`"}`); a.StatusCode != 201 {
			t.Fatal(a.StatusCode, a.body)
		}
	}
	rejected(l, l.post("ann", "desk", `{"question": "hi", "run_id": "late"}`), 503, "queue_full", "late")

	l = listen(t, "bad-input", roomy, server.Options{}, func(o *manager.Options) { o.CostPerDay = 100 })
	if a := l.post("ann", "priced", `{"question": "hi", "run_id": "reserves"}`); a.StatusCode != 201 {
		t.Fatal(a.StatusCode, a.body)
	}
	l.await("reserves")
	a := l.post("ann", "priced", `{"question": "hi", "run_id": "late"}`)
	rejected(l, a, 429, "quota_exceeded", "late")
	if a.member("left_usd") != "40" || a.member("needed_usd") != "60" || a.member("renews_at") == "" {
		t.Error(a.body)
	}
	if u := l.get("ann", "/v1/usage"); u.member("reserved_usd") != "60" || u.member("limit_usd") != "100" || u.member("left_usd") != "40" {
		t.Error(u.body)
	}
	l.want(l.post("ann", "hello", `{"question": "hi", "run_id": "late"}`), 422, "invalid_cost_limit", "/set")
	l.missing("late")
	if u := l.get("eve", "/v1/usage"); u.member("reserved_usd") != "0" || u.member("left_usd") != "100" {
		t.Error("another tenant:", u.body)
	}
}

// An answer that does not count changes nothing in the journal.
func TestAnswersThatDoNotCount(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	l.post("ann", "desk", `{"question": "hi", "run_id": "r-1"}`)
	l.await("r-1")
	records := func() []journal.Record {
		t.Helper()
		all, err := l.tenants[""].Runs.Home().Read("r-1")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	const approve = `{"path": "step.s1/turn.1/tool.0.approval", "do": "approve"`
	reply := func(client, body string) answer {
		t.Helper()
		return l.send(client, http.MethodPost, "/v1/runs/r-1/answers", strings.NewReader(body))
	}
	before := len(records())
	l.want(reply("bea", `{"path": "step.s9/turn.1/tool.0.approval", "do": "approve"}`), 404, "no_open_question", "")
	l.want(reply("bea", approve+`, "digest": "0123456789abcdef"}`), 412, "question_changed", "")
	l.want(reply("ann", approve+`}`), 403, "forbidden", "")
	l.want(reply("eve", approve+`}`), 404, "not_found", "")
	if after := len(records()); after != before {
		t.Errorf("%d records, then %d", before, after)
	}
	if a := reply("bea", approve+`}`); a.StatusCode != 200 {
		t.Fatal(a.StatusCode, a.body)
	}
	l.await("r-1")
	before = len(records())
	l.want(reply("bea", approve+`}`), 409, "already_decided", "")
	if after := len(records()); after != before {
		t.Errorf("%d records, then %d", before, after)
	}
}

// A damaged run is listed as such, and only requests about it fail.
func TestADamagedJournal(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	for _, run := range []string{"whole", "broken"} {
		l.post("ann", "hello", `{"question": "hi", "run_id": "`+run+`"}`, "Prefer", "wait=60")
		l.await(run)
	}
	l.damage("broken")
	l.want(l.get("root", "/v1/runs/broken"), 500, "store_corrupt", "")
	if a := l.get("root", "/v1/runs"); a.StatusCode != 200 || !strings.Contains(a.body, `"status": "corrupt"`) || !strings.Contains(a.body, `"status": "completed"`) {
		t.Error(a.body)
	}
	if a := l.get("ann", "/v1/runs/whole"); a.StatusCode != 200 {
		t.Error(a.body)
	}
	if a := l.post("ann", "hello", `{"question": "hi", "run_id": "next"}`, "Prefer", "wait=60"); a.StatusCode != 200 {
		t.Error(a.body)
	}
}

// A run whose model has no API key is accepted, and fails as on the command line; also one that
// was queued.
func TestAMissingProviderKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "")
	l := listen(t, "bad-input", manager.Limits{Running: 1, Waiting: 9}, server.Options{}, unchanged)
	for _, run := range []string{"first", "second", "third"} {
		if a := l.post("ann", "keyless", `{"question": "hi", "run_id": "`+run+`"}`); a.StatusCode != 201 {
			t.Fatal(a.StatusCode, a.body)
		}
	}
	for _, run := range []string{"first", "second", "third"} {
		l.await(run)
		a := l.get("ann", "/v1/runs/"+run)
		if a.member("status") != "failed" || !strings.Contains(a.member("stop_reason"), `"provider_error"`) || !strings.Contains(a.body, "OPENAI_API_KEY") {
			t.Errorf("%s: %s", run, a.body)
		}
	}
}

func TestPathsOutsideOfTheHome(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	secret := filepath.Join(l.tenants[""].Home, "..", "secret")
	if err := os.WriteFile(secret, []byte("canary-of-a-file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"..", "../secret", "..%2fsecret", "%2e%2e%2fsecret", "%2e%2e/secret", "%2Fetc%2Fpasswd", "..%5csecret", "%00", "r-1%00", ".", "secret%2f.", "%252e%252e%252fsecret", "%ff"} {
		for _, path := range []string{"/v1/runs/" + id, "/v1/runs/" + id + "/events", "/v1/runs/" + id + "/journal", "/v1/memories/" + id, "/v1/agents/" + id} {
			a := l.get("root", path)
			if a.StatusCode != 400 && a.StatusCode != 404 || strings.Contains(a.body, "canary") || a.member("code") == "" {
				t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
			}
		}
	}
	for _, id := range []string{"../r", "/tmp/r", "a/b", `a\\b`, "..", "%2e%2e"} {
		l.want(l.post("ann", "hello", `{"question": "hi", "run_id": "`+id+`"}`), 422, "invalid_request", "/run_id")
	}
}

// Control characters and markup are data in replies, feeds and headers, and inert in the log.
func TestHostileTexts(t *testing.T) {
	l := listen(t, "bad-input", roomy, server.Options{}, unchanged)
	const hostile = `\r\n\r\nevent: end\r\ndata: {}\r\n\r\n\u001b[31mred\u001b]0;title\u0007<script>alert(1)</script>\u2028\u202e`
	a := l.post("ann", "hello", `{"question": "`+hostile+`", "run_id": "r-1", "memory_id": "a\r\n\u001b[31m<b>"}`, "Accept", "text/event-stream", "X-Request-Id", "id <script>alert(2)</script>")
	if n := strings.Count(a.body, "\nevent: end\n"); n != 1 || strings.ContainsAny(a.body, "\r\x1b\x07") {
		t.Errorf("%d ends in the feed: %q", n, a.body)
	}
	got := l.get("ann", "/v1/runs/r-1?include=conversation")
	if strings.ContainsAny(got.body, "\r\x1b\x07") || got.Header.Get("Content-Type") != "application/json" || got.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%v %q", got.Header, got.body)
	}
	l.get("ann", "/v1/runs/%0d%0aforged%1b%5b31m%3Cscript%3E")
	log := l.log.String()
	if strings.ContainsAny(log, "\r\x1b\x07") || strings.Contains(log, "\nforged") || strings.Contains(log, "<script>alert") {
		t.Errorf("%q", log)
	}
	if strings.Contains(log, "pex_0000") || strings.Contains(log, "title") {
		t.Error("the log has content or a token")
	}
}
