package httpclient_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pexctl/pex/internal/httpclient"
)

// A streaming client keeps its connection open, and limits all responses except event streams.
func TestGuardedStream(t *testing.T) {
	var connections atomic.Int64
	at := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		_, _ = io.WriteString(w, strings.Repeat("x", 100))
	}))
	at.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	at.Start()
	t.Cleanup(at.Close)
	client := httpclient.NewGuarded(httpclient.GuardSettings{AllowHosts: []string{"127.0.0.1"}, MaxBody: 50, Stream: true})
	t.Cleanup(client.CloseIdleConnections)
	for _, tt := range []struct {
		kind string
		most int
	}{{"text/event-stream", 100}, {"application/json", 50}} {
		resp, err := client.Get(at.URL + "?type=" + tt.kind)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if len(text) != tt.most || (err == nil) != (tt.most == 100) {
			t.Errorf("%s: %d bytes, error %v", tt.kind, len(text), err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
