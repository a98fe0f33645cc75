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

// exchange is a request that a fault answers.
type exchange struct {
	http.ResponseWriter
	r        *http.Request
	f        *Format
	streamed bool
}

// writeHeader sends the header of a good reply.
func (s *exchange) writeHeader() {
	s.Header().Set("Content-Type", s.f.contentType(s.streamed))
	s.WriteHeader(http.StatusOK)
}

// reply sends a body as a reply.
func (s *exchange) reply(body []byte) {
	s.writeHeader()
	_, _ = s.Write(body)
}

// flush sends what was written, and reports whether the client is still connected.
func (s *exchange) flush() bool {
	return http.NewResponseController(s.ResponseWriter).Flush() == nil && s.r.Context().Err() == nil
}

// abort closes the connection, or its HTTP/2 stream.
func (s *exchange) abort() {
	s.flush()
	panic(http.ErrAbortHandler)
}

// writeForever repeats a piece until the client disconnects.
func (s *exchange) writeForever(piece []byte) {
	for s.r.Context().Err() == nil {
		if _, err := s.Write(piece); err != nil {
			return
		}
	}
}

// hijack takes over the connection.
func (s *exchange) hijack() net.Conn {
	conn, _, err := s.ResponseWriter.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return conn
}

// header returns the header of a good reply.
func (s *exchange) header(more ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: " + s.f.contentType(s.streamed) + "\r\n" + strings.Join(more, "\r\n") + "\r\n\r\n"
}

// server serves the fault that is named in a request's prompt: only for the first request if it
// says "once".
type server struct {
	format *Format
	faults []fault

	mu       sync.Mutex
	requests map[string]int
}

var promptPattern = regexp.MustCompile(`call (\d+): fault (\d+) (once|always)`)

// promptFor returns a prompt that requests a fault.
func promptFor(call, fault int, how string) string {
	return fmt.Sprintf("call %d: fault %d %s", call, fault, how)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has disconnected
	}
	name := promptPattern.FindSubmatch(body)
	if name == nil {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	n, err := strconv.Atoi(string(name[2]))
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	s.requests[string(name[1])]++
	first := s.requests[string(name[1])] == 1
	s.mu.Unlock()
	on := &exchange{ResponseWriter: w, r: r, f: s.format, streamed: s.streamed(r, body)}
	if first || string(name[3]) == "always" {
		s.faults[n].serve(on)
		return
	}
	on.reply(s.format.reply(on.streamed))
}

var streamFlag = regexp.MustCompile(`"stream": ?true`)

// streamed reports whether a request asks for a stream, in its path or body.
func (s *server) streamed(r *http.Request, body []byte) bool {
	return s.format.Stream != nil && (strings.Contains(strings.ToLower(r.URL.Path), "stream") || streamFlag.Match(body))
}
