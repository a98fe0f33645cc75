//go:build unix

package mcptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// WebMode is one kind of misbehavior over HTTP.
type WebMode struct {
	Doc  string
	call func(*Site, http.ResponseWriter, *http.Request, message) // instead of the answer to a call
	list func(*Site, http.ResponseWriter, *http.Request, message)
	any  func(*Site, http.ResponseWriter, *http.Request) bool // before everything else; true = the request was handled
}

// Site is an HTTP server for the duration of a test.
type Site struct {
	URL          string
	mode         WebMode
	done         chan struct{} // closed when the test ends, which ends hanging requests
	forbiddenURL string        // a URL that clients must not call

	mu        sync.Mutex
	server    *httptest.Server
	sessions  int
	requests  map[string]int    // by method of the protocol, or by HTTP method if there is none
	calls     []json.RawMessage // parameters of each tools/call
	forbidden []string          // requests to forbiddenURL
}

// HTTP starts a server that ends with the test.
func HTTP(t testing.TB, mode WebMode) *Site {
	t.Helper()
	s := &Site{mode: mode, done: make(chan struct{}), requests: map[string]int{}}
	stray := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.forbidden = append(s.forbidden, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		s.mu.Unlock()
		s.serve(w, r)
	}))
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL, s.forbiddenURL = s.server.URL+"/mcp", stray.URL
	t.Cleanup(func() {
		close(s.done)
		s.mu.Lock()
		server := s.server
		s.mu.Unlock()
		server.CloseClientConnections()
		server.Close()
		stray.Close()
	})
	return s
}

// restart breaks all connections, like a kill, and serves again at the same address without its sessions. The socket
// listens throughout, so that a client that reconnects immediately is not rejected.
func (s *Site) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	socket, err := s.server.Listener.(*net.TCPListener).File()
	if err != nil {
		panic(err)
	}
	defer socket.Close()
	listener, err := net.FileListener(socket)
	if err != nil {
		panic(err)
	}
	_ = s.server.Config.Close() // errors of connections that are broken already do not matter
	again := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	_ = again.Listener.Close()
	again.Listener = listener
	again.Start()
	s.server = again
}

// Requests returns how often a method of the protocol was called. "GET" and "DELETE" are HTTP methods.
func (s *Site) Requests(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[method]
}

// Calls returns the parameters of each tools/call, in order.
func (s *Site) Calls() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// ForbiddenRequests returns the requests to the address that only the server mentioned.
func (s *Site) ForbiddenRequests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.forbidden
}

func (s *Site) serve(w http.ResponseWriter, r *http.Request) {
	var m message
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &m) != nil {
			http.Error(w, "no message", http.StatusBadRequest)
			return
		}
	}
	s.mu.Lock()
	s.requests[r.Method]++
	s.requests[m.Method]++
	if m.Method == "tools/call" {
		s.calls = append(s.calls, m.Params)
	}
	s.mu.Unlock()
	if s.mode.any != nil && s.mode.any(s, w, r) {
		return
	}
	s.answer(w, r, m)
}

func (s *Site) answer(w http.ResponseWriter, r *http.Request, m message) {
	switch {
	case r.Method != http.MethodPost:
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
	case len(m.ID) == 0:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "tools/call" && s.mode.call != nil:
		s.mode.call(s, w, r, m)
	case m.Method == "tools/list" && s.mode.list != nil:
		s.mode.list(s, w, r, m)
	default:
		if m.Method == "initialize" {
			s.mu.Lock()
			s.sessions++
			w.Header().Set("Mcp-Session-Id", fmt.Sprintf("session-%d", s.sessions))
			s.mu.Unlock()
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, goodAnswer(m)) // the client may have disconnected
	}
}

// hang waits until the client has disconnected or the test has ended.
func (s *Site) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.done:
	}
}

// events starts an event stream.
func events(w http.ResponseWriter) func(string) bool {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush, _ := w.(http.Flusher)
	return func(s string) bool {
		_, err := io.WriteString(w, s)
		if flush != nil {
			flush.Flush()
		}
		return err == nil
	}
}

func event(id, data string) string {
	return "id: " + id + "\ndata: " + strings.ReplaceAll(data, "\n", "") + "\n\n"
}
