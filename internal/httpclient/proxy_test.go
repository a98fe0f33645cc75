package httpclient_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/httpclient"
)

// asked is the variable that makes the test process run as the client, because net/http reads the proxy settings once
// per process.
const asked = "PEX_TEST_PROXY_ASKS"

const proxyPassword = "pr/oxy+pass"

func TestProxiesOfTheEnvironment(t *testing.T) {
	if url := os.Getenv(asked); url != "" {
		c := httpclient.New(httpclient.Settings{Retry: retry.Policy{MaxAttempts: 2}, Sleep: new(recordedWaits).sleep})
		var got string
		n, err := c.Call(t.Context(), fetch(c, url, &got))
		var e *httpclient.Error
		_ = errors.As(err, &e)
		fmt.Printf("attempts %d, got %q, error %v %+v\n", n, got, err, e)
		return
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, pass, ok := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
		switch {
		case !ok:
			w.WriteHeader(http.StatusProxyAuthRequired)
		case r.Method == http.MethodConnect:
			w.WriteHeader(map[string]int{"model.test:443": 403, "odd.test:443": 400, "missing.test:443": 404, "down.test:443": 503}[r.Host])
		case r.URL.Path == "/echo":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, "%s:%s %s", user, pass, r.Header.Get("Proxy-Authorization"))
		default:
			_, _ = io.WriteString(w, "by way of the proxy to "+r.Host)
		}
	}))
	t.Cleanup(proxy.Close)
	open := strings.TrimPrefix(proxy.URL, "http://")
	direct := strings.Replace(serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "directly") }), "127.0.0.1", "0.0.0.0", 1)
	named := "http://me:pr%2Foxy+pass@" + open
	tests := []struct {
		name, env, url, want string
	}{
		{"http", "HTTP_PROXY=" + named, "http://model.test/v1", `attempts 1, got "by way of the proxy to model.test"`},
		{"lower case", "http_proxy=" + named, "http://model.test/v1", `got "by way of the proxy to model.test"`},
		{"no user", "HTTP_PROXY=http://" + open, "http://model.test/v1", "attempts 1, got \"\", error Post \"http://model.test/v1\": HTTP 407: Proxy Authentication Required (HTTPS_PROXY"},
		{"no user, by TLS", "HTTPS_PROXY=http://" + open, "https://model.test/v1", "attempts 1, got \"\", error Post \"https://model.test/v1\": HTTP 407: the proxy " + open + " does not connect to model.test:443: Proxy Auth"},
		{"forbidden, by TLS", "HTTPS_PROXY=" + named, "https://model.test/v1", "attempts 1, got \"\", error Post \"https://model.test/v1\": HTTP 403: the proxy " + open},
		{"bad request, by TLS", "HTTPS_PROXY=" + named, "https://odd.test/v1", "attempts 1, got \"\", error Post \"https://odd.test/v1\": HTTP 400: the proxy " + open},
		{"not found, by TLS", "HTTPS_PROXY=" + named, "https://missing.test/v1", "attempts 1, got \"\", error Post \"https://missing.test/v1\": HTTP 404: the proxy " + open},
		{"unavailable, by TLS", "HTTPS_PROXY=" + named, "https://down.test/v1", "attempts 2, got \"\", error Post \"https://down.test/v1\": HTTP 503: the proxy " + open},
		{"the proxy echoes", "HTTP_PROXY=" + named, "http://model.test/echo", "HTTP 400: [redacted] Basic [redacted]"},
		{"no proxy there", "HTTP_PROXY=http://me:pr%2Foxy+pass@127.0.0.1:1", "http://model.test/v1", "connection refused: check HTTPS_PROXY and HTTP_PROXY"},
		{"a proxy without TLS", "HTTP_PROXY=https://" + open, "http://model.test/v1", "the proxy does not use TLS: should HTTPS_PROXY or HTTP_PROXY begin with http://?"},
		{"not for this host", "HTTP_PROXY=" + named + " NO_PROXY=0.0.0.0", direct, `attempts 1, got "directly"`},
		{"for this host", "HTTP_PROXY=" + named, direct, "by way of the proxy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxiesOfTheEnvironment$", "-test.count=1")
			cmd.Env = append([]string{asked + "=" + tt.url, "GORACE=atexit_sleep_ms=0"}, strings.Fields(tt.env)...)
			out, err := cmd.CombinedOutput()
			shown := string(out)
			if err != nil || !strings.Contains(shown, tt.want) {
				t.Errorf("%v: %s\nwant %s", err, shown, tt.want)
			}
			for _, form := range []string{proxyPassword, "pr%2Foxy+pass", "bWU6cHIvb3h5K3Bhc3M"} {
				if strings.Contains(shown, form) {
					t.Errorf("shows %s: %s", form, shown)
				}
			}
		})
	}
}
