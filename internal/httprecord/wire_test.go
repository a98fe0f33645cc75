package httprecord_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/internal/httprecord"
)

// spy replaces a *testing.T and collects its errors.
type spy struct{ messages string }

func (s *spy) Helper() {}

func (s *spy) Errorf(format string, args ...any) { s.messages += fmt.Sprintf(format, args...) + "\n" }

func post(t *testing.T, via http.RoundTripper, path, body string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.test"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "*/*")
	req.Header.Set("Authorization", "Bearer sk-1234567")
	req.Header.Set("User-Agent", "never the same")
	resp, err := via.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// server responds with its caller and, in four pieces, the request.
func server(t *testing.T) *httprecord.Recorder {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		for name, value := range map[string]string{
			"X-Request-Id": "q-1", "Set-Cookie": "session=of-the-owner", "Openai-Organization": "acme-corporation", "Date": "today", "X-Secret": r.Header.Get("Authorization"),
		} {
			w.Header().Set(name, value)
		}
		for _, piece := range []string{string(body), " by " + r.Header.Get("Authorization")[:12], r.Header.Get("Authorization")[12:], " of acme-corporation, org-abcdefghij0123456789 in arn:aws:bedrock:eu-west-1:123456789012:x"} {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return httprecord.NewRecorder(httprecord.Route(http.DefaultTransport, u))
}

func TestRecordingHasNoSecrets(t *testing.T) {
	recorder := server(t)
	heard, err := post(t, recorder, "/v1/chat?key=sk-1234567", `{"b": 1.50, "a": "sk-1234567"}`)
	if err != nil || !strings.Contains(heard, "by Bearer sk-1234567") {
		t.Fatalf("got %q, %v: a recorder must forward the response", heard, err)
	}
	r, err := recorder.Recording(httprecord.Recording{Origin: "a test", Model: "arn:aws:bedrock:eu-west-1:123456789012:m"}, map[string]string{"key": "sk-1234567"})
	if err != nil {
		t.Fatal(err)
	}
	want := httprecord.Exchange{
		Request: httprecord.Request{
			Method: "POST", Path: "/v1/chat?key=[redacted key]",
			Header: http.Header{"Accept": {"*/*"}, "Authorization": {"Bearer [key]"}},
			Body:   []byte("{\n  \"a\": \"[redacted key]\",\n  \"b\": 1.50\n}\n"),
		},
		Response: httprecord.Response{Status: 200, Header: http.Header{"X-Request-Id": {"q-1"}}},
	}
	want.Response.Header["Content-Type"] = []string{"text/plain; charset=utf-8"}
	got := r.Exchanges[0]
	body := string(got.Response.Body())
	got.Response.Pieces = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	const said = ` by Bearer [redacted key] of [redacted Openai-Organization 0], org-00000000000000000000 in arn:aws:bedrock:eu-west-1:000000000000:x`
	if !strings.HasSuffix(body, said) || r.Model != "arn:aws:bedrock:eu-west-1:000000000000:m" {
		t.Errorf("the answer is %q, of model %s", body, r.Model)
	}
}

// pieces is a server whose response consists of these pieces, one per read.
type pieces []string

func (p pieces) RoundTrip(req *http.Request) (*http.Response, error) {
	var all []io.Reader
	for _, piece := range p {
		all = append(all, strings.NewReader(piece))
	}
	return &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"7"}}, Body: io.NopCloser(io.MultiReader(all...)), Request: req}, nil
}

func TestPlayerReplaysResponses(t *testing.T) {
	said := pieces{"data: 1\n", "\ndata: sk-12", "34567\n\n", "data: 2\n\n"}
	recorder := httprecord.NewRecorder(said)
	heard, err := post(t, recorder, "/v1/chat", `{"b": [1, 2], "a": "<x>"}`)
	if err != nil || heard != strings.Join(said, "") {
		t.Fatalf("heard %q, %v", heard, err)
	}
	r, err := recorder.Recording(httprecord.Recording{Origin: "a test"}, map[string]string{"key": "sk-1234567"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a recording can be played several times
		s := &spy{}
		player := httprecord.NewPlayer(s, r)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://elsewhere.test/v1/chat", strings.NewReader(`{ "a":"<x>","b":[1,2]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Accept": {"*/*"}, "Authorization": {"Bearer of-another"}}
		resp, err := player.RoundTrip(req)
		if err != nil {
			t.Fatal(s.messages)
		}
		var again []string
		buffer := make([]byte, 100)
		for {
			n, err := resp.Body.Read(buffer)
			if err != nil {
				break
			}
			again = append(again, string(buffer[:n]))
		}
		want := []string{"data: 1\n", "\ndata: [redacted key]", "\n\n", "data: 2\n\n"}
		if diff := cmp.Diff(want, again); diff != "" || resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "7" {
			t.Errorf("status %d, header %v: %s", resp.StatusCode, resp.Header, diff)
		}
		if player.Done(); s.messages != "" {
			t.Error(s.messages)
		}
	}
}

func TestPlayerIsStrict(t *testing.T) {
	one := `{"model": "m", "n": 1}`
	recorder := server(t)
	if _, err := post(t, recorder, "/v1/chat", one); err != nil {
		t.Fatal(err)
	}
	r, err := recorder.Recording(httprecord.Recording{Origin: "a test"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		path, body string
		want       []string
	}{
		{"another body", "/v1/chat", `{"model": "m", "n": 2}`, []string{`-  "n": 1`, `+  "n": 2`, "make record"}},
		{"a field more", "/v1/chat", `{"model": "m", "n": 1, "x": null}`, []string{`+  "x": null`}},
		{"a number written otherwise", "/v1/chat", `{"model": "m", "n": 1.0}`, []string{`+  "n": 1.0`}},
		{"another path", "/v1/chat/", one, []string{"-POST /v1/chat\n", "+POST /v1/chat/\n"}},
		{"a query", "/v1/chat?beta=true", one, []string{"+POST /v1/chat?beta=true\n"}},
		{"no JSON", "/v1/chat", one + "{", []string{"differs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &spy{}
			player := httprecord.NewPlayer(s, r)
			if heard, err := post(t, player, c.path, c.body); err == nil {
				t.Errorf("answered %q", heard)
			}
			for _, part := range c.want {
				if !strings.Contains(s.messages, part) {
					t.Errorf("said %s, without %q", s.messages, part)
				}
			}
			s.messages = ""
			if player.Done(); !strings.Contains(s.messages, "1 recorded requests were not made") {
				t.Errorf("at the end said %q", s.messages)
			}
		})
	}
	s := &spy{}
	player := httprecord.NewPlayer(s, r)
	_, _ = post(t, player, "/v1/chat", one)
	if _, err := post(t, player, "/v1/chat", one); err == nil || !strings.Contains(s.messages, "request 2, POST /v1/chat, was not recorded") {
		t.Errorf("a second request: %v, said %s", err, s.messages)
	}
}

// Keys in a query, like those in headers, may differ. The rest of the query must match.
func TestKeyInQueryMayDiffer(t *testing.T) {
	recorder := server(t)
	if _, err := post(t, recorder, "/v1/chat?access_token=sk-1234567&beta=1", "{}"); err != nil {
		t.Fatal(err)
	}
	r, err := recorder.Recording(httprecord.Recording{Origin: "a test"}, map[string]string{"key": "sk-1234567"})
	if err != nil {
		t.Fatal(err)
	}
	for path, said := range map[string]string{
		"/v1/chat?access_token=of-nobody&beta=1": "",
		"/v1/chat?access_token=of-nobody&beta=2": "+POST /v1/chat?access_token=[key]&beta=2\n",
		"/v1/chat?beta=1":                        "+POST /v1/chat?beta=1\n",
	} {
		s := &spy{}
		_, err := post(t, httprecord.NewPlayer(s, r), path, "{}")
		if (err == nil) != (said == "") || !strings.Contains(s.messages, said) || strings.Contains(s.messages, "of-nobody") {
			t.Errorf("%s: %v, said %s", path, err, s.messages)
		}
	}
}

// broken is a server whose responses end early.
type broken struct{}

func (broken) RoundTrip(req *http.Request) (*http.Response, error) {
	r := io.MultiReader(strings.NewReader("half"), brokenReader{})
	return &http.Response{StatusCode: 200, Body: io.NopCloser(r), Header: http.Header{}, Request: req}, nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestIncompleteResponseIsNotRecorded(t *testing.T) {
	recorder := httprecord.NewRecorder(broken{})
	if _, err := post(t, recorder, "/v1", "x"); err == nil {
		t.Error("no error")
	}
	if r, err := recorder.Recording(httprecord.Recording{}, nil); err != nil || len(r.Exchanges) != 0 {
		t.Errorf("recorded %+v, %v", r, err)
	}
}

// frames responds with binary data that contains a secret.
type frames struct{}

func (frames) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("\x00\x01 sk-1234567")), Header: http.Header{}, Request: req}, nil
}

func TestSecretInBinaryBodyIsError(t *testing.T) {
	recorder := httprecord.NewRecorder(frames{})
	if _, err := post(t, recorder, "/v1", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := recorder.Recording(httprecord.Recording{}, map[string]string{"key": "sk-1234567"}); err == nil {
		t.Error("a frame was changed, and its checksum was not")
	}
	if _, err := recorder.Recording(httprecord.Recording{}, nil); err != nil {
		t.Error(err)
	}
}
