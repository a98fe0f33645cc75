package httpclient_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
)

// fake is a server in this process, for use in a synctest bubble with virtual time.
type fake func(*http.Request) (*http.Response, error)

func (f fake) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answer returns a 200 response whose body is read from r and ends with the request.
func answer(req *http.Request, kind string, r io.ReadCloser) *http.Response {
	context.AfterFunc(req.Context(), func() { r.Close() })
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: r, Request: req}
}

func TestTimeLimitsAreTyped(t *testing.T) {
	limits := httpclient.Settings{FirstByte: 10 * time.Second, Idle: 5 * time.Second, Total: 30 * time.Second}
	tests := []struct {
		name  string
		serve fake
		kind  model.ErrorKind
		after time.Duration
		text  string
	}{
		{"no first byte", func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, model.CallTimeout, 10 * time.Second, "no answer within 10s"},
		{"silence in the body", func(r *http.Request) (*http.Response, error) {
			in, out := io.Pipe()
			go func() { _, _ = out.Write([]byte("data: 1\n")) }()
			return answer(r, "text/event-stream", in), nil
		}, model.Truncated, 5 * time.Second, "no data for 5s"},
		{"one byte a second for ever", func(r *http.Request) (*http.Response, error) {
			in, out := io.Pipe()
			go func() {
				for {
					select {
					case <-time.After(time.Second):
						_, _ = out.Write([]byte("."))
					case <-r.Context().Done():
						return
					}
				}
			}()
			return answer(r, "application/json", in), nil
		}, model.CallTimeout, 30 * time.Second, "not done within 30s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := limits
				s.Base = tt.serve
				c := httpclient.New(s)
				begin := time.Now()
				var got string
				_, err := c.Call(t.Context(), fetch(c, "http://model.test/v1", &got))
				var e *httpclient.Error
				if !errors.As(err, &e) || e.Kind != tt.kind || !strings.Contains(e.Message, tt.text) {
					t.Errorf("error %v", err)
				}
				if spent := time.Since(begin); spent != tt.after {
					t.Errorf("ended after %v, want %v", spent, tt.after)
				}
			})
		})
	}
}

func TestBodySizeIsLimited(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 8<<20))
	_ = z.Close()
	tests := []struct {
		name  string
		serve http.HandlerFunc
	}{
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}},
		{"a gzip bomb", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}},
		{"one byte over", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20+1)) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := httpclient.New(httpclient.Settings{MaxBody: 1 << 20, Retry: retry.Policy{MaxAttempts: 5}})
			var got string
			n, err := c.Call(t.Context(), fetch(c, serve(t, tt.serve), &got))
			if n != 1 || !errors.Is(err, httpclient.ErrTooLarge) || len(got) != 1<<20 {
				t.Errorf("attempts %d, read %d, %v", n, len(got), err)
			}
		})
	}
	t.Run("exactly the cap", func(t *testing.T) {
		c := httpclient.New(httpclient.Settings{MaxBody: 1 << 20})
		var got string
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
		if _, err := c.Call(t.Context(), fetch(c, url, &got)); err != nil || len(got) != 1<<20 {
			t.Errorf("read %d, %v", len(got), err)
		}
	})
}

func TestEndlessHeadersAreRefused(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 5000 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
		}
	})
	var got string
	c := httpclient.New(httpclient.Settings{})
	var e *httpclient.Error
	if _, err := c.Call(t.Context(), fetch(c, url, &got)); !errors.As(err, &e) || e.Kind != model.NetworkError {
		t.Errorf("error %v", err)
	}
}

func TestBrokenConnectionsAreRepeated(t *testing.T) {
	tests := []struct {
		name  string
		write string
		kind  model.ErrorKind
	}{
		{"closed before the answer", "", model.NetworkError},
		{"reset after the header", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half", model.Truncated},
		{"chunk cut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", model.Truncated},
		{"not HTTP", "220 mail.test ESMTP\r\n", model.NetworkError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = conn.Close() }()
				_, _ = conn.Write([]byte(tt.write))
			})
			c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 3}, Sleep: new(recordedWaits).sleep})
			var got string
			n, err := c.Call(t.Context(), fetch(c, url, &got))
			var e *httpclient.Error
			if n != 3 || !errors.As(err, &e) || e.Kind != tt.kind {
				t.Errorf("attempts %d, %v", n, err)
			}
		})
	}
}

func TestUnreachableServersAreNetworkErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 2}, Sleep: new(recordedWaits).sleep})
	var got string
	n, err := c.Call(t.Context(), fetch(c, "http://"+l.Addr().String(), &got))
	var e *httpclient.Error
	if n != 2 || !errors.As(err, &e) || e.Kind != model.NetworkError || !strings.Contains(e.Message, "refused") {
		t.Errorf("attempts %d, %v", n, err)
	}
}

func TestBadCertificatesAreNotRepeated(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 3}})
	var got string
	n, err := c.Call(t.Context(), fetch(c, s.URL, &got))
	var e *httpclient.Error
	if n != 1 || !errors.As(err, &e) || !e.Final || !strings.Contains(e.Message, "certificate") {
		t.Errorf("attempts %d, %v", n, err)
	}
}

func TestSecretsAreReplacedByValue(t *testing.T) {
	const secret = "sk-very/secret+1"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "for "+secret)
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error": {"message": "bad key %s (%s)"}}`, secret, r.URL.RawQuery)
	})
	c := httpclient.New(httpclient.Settings{Secrets: []string{secret, "abc"}})
	var got string
	_, err := c.Call(t.Context(), fetch(c, url+"?key=sk-very%2Fsecret%2B1", &got))
	var e *httpclient.Error
	if !errors.As(err, &e) {
		t.Fatal(err)
	}
	if shown := e.Error() + e.RequestID + string(e.Body); strings.Contains(shown, "secret") || e.Message != "bad key [redacted] (key=[redacted])" {
		t.Errorf("shows %s", shown)
	}
}

// Errors of net/http quote the server's response if it is not HTTP.
func TestErrorsQuotingServerAreRedacted(t *testing.T) {
	const secret = "sk-very/secret+1"
	tests := []struct{ name, write, want string }{
		{"instead of a header", "key=" + secret + "\r\n", "key=[redacted]"},
		{"instead of a trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + secret + " is no key\r\n\r\n", "[redacted] is no key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, tt.write)
			})
			c := httpclient.New(httpclient.Settings{Secrets: []string{secret}})
			var got string
			_, err := c.Call(t.Context(), fetch(c, url, &got))
			e, ok := errors.AsType[*httpclient.Error](err)
			if !ok || strings.Contains(e.Message, secret) || !strings.Contains(e.Message, tt.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestUnsafeRedirectsAreRejected(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, _ *http.Request) { t.Error("the other host was called") })
	tests := []struct {
		name   string
		status int
		to     func(n string) string
		text   string
	}{
		{"to another host", 307, func(string) string { return other }, "another host"},
		{"post to get", 302, func(string) string { return "/x" }, "turn the POST into a GET"},
		{"for ever", 308, func(p string) string { return p + "x" }, "more than 3 times"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked++
				http.Redirect(w, r, tt.to(r.URL.Path), tt.status)
			})
			c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 3}})
			var got string
			n, err := c.Call(t.Context(), fetch(c, url+"/", &got))
			if n != 1 || asked > 4 || !errors.Is(err, httpclient.ErrRedirect) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("attempts %d, asked %d, %v", n, asked, err)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	tests := []struct{ body, want string }{
		{`{"error": {"message": "a", "code": 1}}`, "a"},
		{`{"error": "b"}`, "b"},
		{`{"object": "error", "message": "c"}`, "c"},
		{`{"detail": "d"}`, "d"},
		{`{"detail": [{"msg": "e"}]}`, `{"detail": [{"msg": "e"}]}`},
		{"<html>\n <b>f</b>\n</html>", "<html> <b>f</b> </html>"},
		{"\xff\xfe", "\uFFFD"},
		{"", ""},
		{strings.Repeat("é", 400), strings.Repeat("é", 250) + "…"},
	}
	for _, tt := range tests {
		if got := httpclient.Explain([]byte(tt.body)); got != tt.want {
			t.Errorf("Explain(%.40q) = %.60q, want %.60q", tt.body, got, tt.want)
		}
	}
}

func TestCancelledRequestIsNotServerFailure(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := httpclient.New(httpclient.Settings{}).HTTP().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	cancel()
	_, err = io.ReadAll(resp.Body)
	if e := (*httpclient.Error)(nil); !errors.Is(err, context.Canceled) || errors.As(err, &e) {
		t.Errorf("error %#v", err)
	}
}

func TestUserAgentIsSent(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.UserAgent()) })
	for _, agent := range []string{"", "pex/1.2"} {
		c := httpclient.New(httpclient.Settings{UserAgent: agent})
		var got string
		if _, err := c.Call(t.Context(), fetch(c, url, &got)); err != nil || !strings.HasPrefix(got, "pex") || !strings.HasSuffix(got, agent) {
			t.Errorf("sent %q, %v", got, err)
		}
	}
}
