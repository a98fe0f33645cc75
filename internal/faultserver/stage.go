package faultserver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// stage is one request that a fault answers.
type stage struct {
	http.ResponseWriter
	r        *http.Request
	f        *Format
	streamed bool
}

// begin sends the header of a good answer.
func (s *stage) begin() {
	s.Header().Set("Content-Type", s.f.kind(s.streamed))
	s.WriteHeader(http.StatusOK)
}

// reply sends a body as if it were a good one.
func (s *stage) reply(body []byte) {
	s.begin()
	_, _ = s.Write(body)
}

// flush brings out what was written, and says whether the client is still there.
func (s *stage) flush() bool {
	return http.NewResponseController(s.ResponseWriter).Flush() == nil && s.r.Context().Err() == nil
}

// abort closes the connection, or the stream of it, in the middle.
func (s *stage) abort() {
	s.flush()
	panic(http.ErrAbortHandler)
}

// forever writes a piece again and again, until the client has enough.
func (s *stage) forever(piece []byte) {
	for s.r.Context().Err() == nil {
		if _, err := s.Write(piece); err != nil {
			return
		}
	}
}

// take takes the connection over.
func (s *stage) take() net.Conn {
	conn, _, err := s.ResponseWriter.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return conn
}

// header is the header of a good answer, as a text.
func (s *stage) header(more ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: " + s.f.kind(s.streamed) + "\r\n" + strings.Join(more, "\r\n") + "\r\n\r\n"
}

// server serves the fault that a request's text names: for "once" the first
// time only, for "always" each time.
type server struct {
	format *Format
	faults []fault

	mu   sync.Mutex
	seen map[string]int
}

var named = regexp.MustCompile(`chaos (\d+): fault (\d+) (once|always)`)

// asking is the text of a call that is to meet a fault.
func asking(call, fault int, how string) string {
	return fmt.Sprintf("chaos %d: fault %d %s", call, fault, how)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	name := named.FindSubmatch(body)
	if name == nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	n, err := strconv.Atoi(string(name[2]))
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.seen[string(name[1])]++
	first := s.seen[string(name[1])] == 1
	s.mu.Unlock()
	on := &stage{ResponseWriter: w, r: r, f: s.format, streamed: s.streamed(r, body)}
	if first || string(name[3]) == "always" {
		s.faults[n].serve(on)
		return
	}
	on.reply(s.format.good(on.streamed))
}

var asksToStream = regexp.MustCompile(`"stream": ?true`)

// streamed says whether a request asks for a stream, in its path or its body.
func (s *server) streamed(r *http.Request, body []byte) bool {
	return s.format.Stream != nil && (strings.Contains(strings.ToLower(r.URL.Path), "stream") || asksToStream.Match(body))
}
