package httpclient_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/internal/httpclient"
)

// traced sends one request with a client whose key is sk-client-key-1234 and returns the trace.
func traced(t *testing.T, whole bool, req *http.Request, serve fake) string {
	t.Helper()
	var out strings.Builder
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	clock := func() time.Time {
		now = now.Add(100 * time.Millisecond)
		return now
	}
	trace := httpclient.NewTrace(&out, whole, secret.New(map[string]string{"TOOL_KEY": "t00l-key-567890"}), clock)
	defer trace.Start()()
	c := httpclient.New(httpclient.Settings{Base: serve, Secrets: []string{"sk-client-key-1234"}})
	trace.Mask(secret.New(map[string]string{"RUN_KEY": "run/key+of&mine"}))
	resp, err := c.HTTP().Do(req)
	if err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	return out.String()
}

func post(t *testing.T, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// says responds to every request with this body. It checks the request body.
func says(t *testing.T, status int, kind, sent, body string) fake {
	return func(r *http.Request) (*http.Response, error) {
		if b, err := io.ReadAll(r.Body); string(b) != sent || err != nil {
			t.Errorf("sent %q, %v", b, err)
		}
		h := http.Header{"Content-Type": {kind}, "Set-Cookie": {"id=1"}, "X-Echo": {"run%2Fkey%2Bof%26mine"}}
		return &http.Response{Status: http.StatusText(status), StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func TestTraceShowsAnExchangeWithoutItsSecrets(t *testing.T) {
	req := post(t, "https://me:pass-word-1@host/v1?key=abc&page=2&t=t00l-key-567890", `{"text": "it is run\/key+of&mine", "max_tokens": 5}`)
	req.Header.Set("Authorization", "Bearer sk-client-key-1234")
	req.Header.Set("X-Api-Key", "whatever")
	req.Header.Set("X-Route", "to sk-client-key-1234")
	got := traced(t, true, req, says(t, 200, "application/json", `{"text": "it is run\/key+of&mine", "max_tokens": 5}`, `{"access_token": "any\"thing", "note": "t00l-key-567890"}`))
	want := `#1 > POST https://redacted@host/v1?key=[redacted]&page=2&t=[redacted TOOL_KEY]
#1 > Authorization: Bearer [redacted]
#1 > User-Agent: pex
#1 > X-Api-Key: [redacted]
#1 > X-Route: to [redacted]
#1 >
#1 > {"text": "it is [redacted RUN_KEY]", "max_tokens": 5}
#1 < OK (100ms)
#1 < Content-Type: application/json
#1 < Set-Cookie: [redacted]
#1 < X-Echo: [redacted RUN_KEY]
#1 <
#1 < {"access_token": "[redacted]", "note": "[redacted TOOL_KEY]"}
#1 = OK, 57 bytes in 200ms
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTraceFindsSecretsInThePiecesOfAStream(t *testing.T) {
	stream := `event: delta
data: {"n":1,"delta":{"text":"my key is t00l-"}}

data: {"n":2,"delta":{"text":"key-56"},"role":"assistant"}

data: {"n":3,"delta":{"text":"7890, yes"}}

data: [DONE]
`
	got := traced(t, true, post(t, "https://host/v1", "{}"), says(t, 200, "text/event-stream", "{}", stream))
	_, got, _ = strings.Cut(got, "#1 <\n")
	want := `#1 < event: delta
#1 < data: {"delta":{"text":"my key is [redacted TOOL_KEY]"},"n":1}
#1 < data: {"delta":{"text":""},"n":2,"role":"assistant"}
#1 < data: {"delta":{"text":", yes"},"n":3}
#1 < data: [DONE]
#1 = OK, 180 bytes in 200ms
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTraceOfFormsBinariesAndLargeBodies(t *testing.T) {
	req := post(t, "https://host/token", "grant_type=refresh_token&refresh_token=abc&code=def&scope=a+b")
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	large := strings.Repeat("0123456789abcdef", 1<<16-1) + "0t00l-key-567890" + strings.Repeat("x", 100)
	for _, tt := range []struct{ name, body, kind, want string }{
		{"form", "", "", "#1 > grant_type=refresh_token&refresh_token=[redacted]&code=[redacted]&scope=a+b\n"},
		{"binary", "\x00\x01\xff", "application/vnd.amazon.eventstream", "#1 < (3 bytes of application/vnd.amazon.eventstream)\n"},
		{"large", large + "t00l-key-567890", "text/plain", "abcdef0\n#1 < (and 115 bytes more)\n#1 = OK, 1048691 bytes in 200ms\n"},
	} {
		r := req.Clone(t.Context())
		r.Body, _ = req.GetBody()
		got := traced(t, true, r, says(t, 200, tt.kind, "grant_type=refresh_token&refresh_token=abc&code=def&scope=a+b", tt.body))
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.name, got[max(0, len(got)-400):])
		}
	}
}

func TestTraceOfFailuresAndOfLinesOnly(t *testing.T) {
	down := fake(func(*http.Request) (*http.Response, error) { return nil, errors.New("refused t00l-key-567890") })
	if got, want := traced(t, false, post(t, "https://host/v1", "{}"), down), "http #1: POST https://host/v1: failed after 100ms: refused [redacted TOOL_KEY]\n"; got != want {
		t.Errorf("got %q", got)
	}
	refuses := says(t, 429, "application/json", "{}", `{"error": "slow down"}`)
	if got, want := traced(t, false, post(t, "https://host/v1", "{}"), refuses), "http #1: POST https://host/v1: Too Many Requests, 22 bytes in 100ms\n"; got != want {
		t.Errorf("got %q", got)
	}
	breaks := fake(func(r *http.Request) (*http.Response, error) {
		return &http.Response{Status: "200 OK", StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(io.MultiReader(strings.NewReader("ab"), badReader{})), Request: r}, nil
	})
	if got, want := traced(t, false, post(t, "https://host/v1", "{}"), breaks), "http #1: POST https://host/v1: 200 OK, ended early after 2 bytes and 100ms: reset\n"; got != want {
		t.Errorf("got %q", got)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errors.New("reset") }

// A body without GetBody is sent completely, and read once.
func TestTraceDoesNotConsumeRequestBody(t *testing.T) {
	req := post(t, "https://host/v1", "")
	req.Body, req.GetBody = io.NopCloser(strings.NewReader("stream")), nil
	if got := traced(t, true, req, says(t, 200, "text/plain", "stream", "ok")); !strings.Contains(got, "#1 > stream\n") {
		t.Error(got)
	}
}
