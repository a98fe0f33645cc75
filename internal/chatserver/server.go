package chatserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a chat completion server. It is safe for concurrent use.
type Server struct {
	URL string // ends with /v1

	delay time.Duration
	reply func(prompt string) string
	mu    sync.Mutex
	now   int
	most  int
	asked []string
}

// Start starts a server that delays each reply and ends with the test. reply returns the text of a reply to a prompt.
func Start(tb testing.TB, delay time.Duration, reply func(prompt string) string) *Server {
	tb.Helper()
	s := &Server{delay: delay, reply: reply}
	web := httptest.NewServer(http.HandlerFunc(s.serve))
	tb.Cleanup(web.Close)
	s.URL = web.URL + "/v1"
	return s
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client disconnected
	}
	prompt := promptOf(body)
	s.mu.Lock()
	s.asked = append(s.asked, prompt)
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	select {
	case <-time.After(s.delay):
	case <-r.Context().Done():
		return
	}
	text, _ := json.Marshal(s.reply(prompt)) // a string always encodes
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop",`+
		`"message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}`, text)
}

// promptOf returns the text of all messages of a request.
func promptOf(body []byte) string {
	var req struct {
		Messages []struct {
			Content any `json:"content"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(body, &req) // an invalid request has no text
	var b strings.Builder
	for _, m := range req.Messages {
		fmt.Fprintln(&b, m.Content)
	}
	return b.String()
}

// Most returns the maximum number of concurrent requests.
func (s *Server) Most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Asked returns the prompts received since the last call.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}
