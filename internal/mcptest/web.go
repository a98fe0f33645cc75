//go:build unix

package mcptest

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// WebModes returns the HTTP servers, by name.
func WebModes() map[string]WebMode {
	status := func(doc string, code int, header ...string) WebMode {
		return WebMode{Doc: doc, call: func(_ *Site, w http.ResponseWriter, _ *http.Request, _ message) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			http.Error(w, "because", code)
		}}
	}
	redirect := func(doc, to string) WebMode {
		return WebMode{Doc: doc, call: func(s *Site, w http.ResponseWriter, r *http.Request, _ message) {
			http.Redirect(w, r, strings.Replace(to, "AWAY", s.forbiddenURL, 1), http.StatusTemporaryRedirect)
		}}
	}
	all := map[string]WebMode{
		"web_good": {Doc: "behaves correctly"},
		"web_hang": {Doc: "never answers anything", any: func(s *Site, _ http.ResponseWriter, r *http.Request) bool { s.hang(r); return true }},
		"web_hang_call": {Doc: "never answers a call", call: func(s *Site, _ http.ResponseWriter, r *http.Request, _ message) {
			s.hang(r)
		}},
		"web_hang_delete": {Doc: "never answers the DELETE of a session", any: func(s *Site, _ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodDelete {
				s.hang(r)
			}
			return r.Method == http.MethodDelete
		}},
		"web_400":           status("rejects the call as invalid", 400),
		"web_401":           status("requires authentication", 401, "WWW-Authenticate", `Bearer realm="mcptest"`),
		"web_403":           status("forbids the call", 403),
		"web_404":           status("knows no session", 404),
		"web_429":           status("limits the rate", 429, "Retry-After", "3600"),
		"web_500":           status("has an internal error", 500),
		"web_redirect":      redirect("sends the client to another port of this machine", "AWAY/mcp"),
		"web_redirect_meta": redirect("sends the client to the machine's metadata", "http://169.254.169.254/latest/meta-data"),
		"web_redirect_loop": redirect("sends the client in a loop", "/mcp"),
		"web_type": {Doc: "answers with an HTML page", call: func(_ *Site, w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<h1>hello</h1>")
		}},
		"web_no_json": {Doc: "answers with invalid JSON", call: func(_ *Site, w http.ResponseWriter, _ *http.Request, _ message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":`)
		}},
		"web_50mb": {Doc: "answers with a body of 50 MB", call: func(_ *Site, w http.ResponseWriter, _ *http.Request, m message) {
			w.Header().Set("Content-Type", "application/json")
			flood(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"content":[{"type":"text","text":"`, `"}]}}`)
		}},
		"web_drop": {Doc: "disconnects in the middle of its answer", call: func(_ *Site, w http.ResponseWriter, _ *http.Request, m message) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "5000")
			_, _ = io.WriteString(w, result(m.ID, text("half"))[:20])
		}},
	}
	maps.Copy(all, streams())
	maps.Copy(all, sessions())
	return all
}

// flood writes 50 MB between head and tail.
func flood(w io.Writer, head, tail string) {
	chunk := strings.Repeat("a", megabyte)
	_, _ = io.WriteString(w, head)
	for range 50 {
		if _, err := io.WriteString(w, chunk); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, tail)
}

// streams returns servers with unusual or invalid event streams.
func streams() map[string]WebMode {
	stream := func(doc string, do func(s *Site, r *http.Request, m message, say func(string) bool)) WebMode {
		return WebMode{Doc: doc, call: func(s *Site, w http.ResponseWriter, r *http.Request, m message) {
			do(s, r, m, events(w))
		}}
	}
	return map[string]WebMode{
		"web_sse_good": stream("answers with an event", func(_ *Site, _ *http.Request, m message, say func(string) bool) {
			say(event("1", result(m.ID, text("in an event"))))
		}),
		"web_sse_50mb": stream("answers with an event of 50 MB", func(_ *Site, _ *http.Request, m message, say func(string) bool) {
			say(`data: {"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"`)
			chunk := strings.Repeat("a", megabyte)
			for range 50 {
				if !say(chunk) {
					return
				}
			}
			say(`"}]}}` + "\n\n")
		}),
		"web_sse_comments": stream("sends comments endlessly", func(s *Site, r *http.Request, _ message, say func(string) bool) {
			for say(": still there\n\n") && !s.disconnected(r) {
			}
		}),
		"web_sse_slow": stream("answers byte by byte, endlessly", func(s *Site, r *http.Request, _ message, say func(string) bool) {
			for say("d") && !s.disconnected(r) {
				time.Sleep(20 * time.Millisecond)
			}
		}),
		"web_sse_empty": stream("ends the stream without an event", func(*Site, *http.Request, message, func(string) bool) {}),
		"web_sse_cut": stream("ends the stream in the middle of an event", func(_ *Site, _ *http.Request, m message, say func(string) bool) {
			say("data: " + result(m.ID, text("cut"))[:30])
		}),
		"web_sse_garbage": stream("answers with an event that is not a message", func(_ *Site, _ *http.Request, _ message, say func(string) bool) {
			say(event("1", "hello"))
		}),
		"web_sse_storm": stream("sends 100,000 notifications before it answers", func(_ *Site, _ *http.Request, m message, say func(string) bool) {
			burst := strings.Repeat(event("1", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`), 500)
			for range floodSize / 500 {
				if !say(burst) {
					return
				}
			}
			say(event("2", result(m.ID, text("after the storm"))))
		}),
	}
}

// disconnected says that the client or the test has gone.
func (s *Site) disconnected(r *http.Request) bool {
	select {
	case <-r.Context().Done():
		return true
	case <-s.done:
		return true
	default:
		return false
	}
}

// sessions returns servers that lose sessions or streams.
func sessions() map[string]WebMode {
	return map[string]WebMode{
		"web_session_lost": {Doc: "loses its first session when it is called", call: func(_ *Site, w http.ResponseWriter, r *http.Request, m message) {
			if r.Header.Get("Mcp-Session-Id") == "session-1" {
				http.Error(w, "session not found", http.StatusNotFound)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, result(m.ID, text("in a new session")))
		}},
		"web_killed": {Doc: "is killed in the middle of its first call and restarted", call: func(s *Site, w http.ResponseWriter, _ *http.Request, m message) {
			if s.Requests("tools/call") == 1 {
				s.restart()
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, goodAnswer(m))
		}},
		"web_session_ever_lost": {Doc: "loses every session", call: func(_ *Site, w http.ResponseWriter, _ *http.Request, _ message) {
			http.Error(w, "session not found", http.StatusNotFound)
		}},
		"web_sse_resumes": {
			Doc: "disconnects in the middle, and continues when asked with the id of the last event",
			call: func(_ *Site, w http.ResponseWriter, _ *http.Request, m message) {
				say := events(w)
				say("retry: 50\n" + event("at-"+string(m.ID), `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"soon"}}`))
			},
			any: func(_ *Site, w http.ResponseWriter, r *http.Request) bool {
				id, ok := strings.CutPrefix(r.Header.Get("Last-Event-Id"), "at-")
				if r.Method != http.MethodGet || !ok {
					return false
				}
				events(w)(event("end", result([]byte(id), text("resumed"))))
				return true
			},
		},
	}
}
