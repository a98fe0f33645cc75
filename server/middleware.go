package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/logs"
	"github.com/pexctl/pex/server/problem"
)

// requestIDHeader names a request in the logs of the client and the server.
const requestIDHeader = "X-Request-Id"

// middleware returns the handler of all requests.
func (s *Server) middleware() http.Handler {
	h := s.handler()
	if s.o.Auth != nil {
		h = s.o.Auth.Middleware(recordIdentity(h))
	}
	h = s.limitBody(h)
	h = withTrace(h)
	h = s.health(h)
	h = s.recoverPanics(h)
	return s.logAccess(h)
}

// entry is what the access log and Options.Observe need to know of a request.
type entry struct{ subject, tenant, route string }

type entryKey struct{}

// recordIdentity stores the identity for the access log.
func recordIdentity(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e, ok := r.Context().Value(entryKey{}).(*entry); ok {
			id, _ := auth.FromContext(r.Context())
			e.subject, e.tenant = id.Subject, id.Tenant
			logs.Authenticated(r.Context(), id.Tenant)
		}
		next.ServeHTTP(w, r)
	})
}

// withTrace passes the trace of the client to the runs that it starts.
func withTrace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := tracecontext.FromHeader(r.Header); c.Parent != "" {
			r = r.WithContext(tracecontext.With(r.Context(), c))
			logs.Called(r.Context(), c.Parent)
		}
		next.ServeHTTP(w, r)
	})
}

// logAccess writes one line per request, without query, bodies and tokens. With a log of package
// logs, it has the trace of the client and the run that the request started.
func (s *Server) logAccess(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, e := time.Now(), &entry{}
		id := requestID(r)
		r = r.WithContext(logs.WithRequest(r.Context(), id))
		if route := s.route(r); route != nil && route.Form.Body != nil {
			r = problem.WithForm(r, route.Form)
		}
		res := newResponse(w, r, s.o.Limits.Write)
		defer func() {
			res.finish()
			took := time.Since(began)
			s.o.Log.LogAttrs(r.Context(), levelOf(r, res.status), "request", res.attributes(id, r, e, took)...)
			if s.o.Observe != nil && !isProbe(r) {
				s.o.Observe(r.Method, e.route, res.status, took)
			}
		}()
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(res, r.WithContext(context.WithValue(r.Context(), entryKey{}, e)))
	})
}

// attributes returns what the access log shows of a request.
func (r *response) attributes(id string, req *http.Request, e *entry, duration time.Duration) []slog.Attr {
	remote, _, _ := net.SplitHostPort(req.RemoteAddr)
	out := []slog.Attr{
		slog.String("request_id", id), slog.String("method", req.Method), slog.String("path", req.URL.Path),
		slog.Int("status", r.status), slog.Int64("bytes", r.bytes), slog.Duration("duration", duration), slog.String("remote", remote),
	}
	if e.subject != "" {
		out = append(out, slog.String("subject", e.subject), slog.String("tenant", e.tenant))
	}
	if r.aborted {
		out = append(out, slog.Bool("aborted", true))
	}
	return out
}

// levelOf returns the level of a request in the access log: probes would hide the others.
func levelOf(r *http.Request, status int) slog.Level {
	switch {
	case status >= 500 && status != http.StatusServiceUnavailable && status != http.StatusNotImplemented:
		return slog.LevelError
	case isProbe(r) || r.URL.Path == "/metrics" && status < http.StatusBadRequest:
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}

// requestID returns the id that the client gave a request, or a new one.
func requestID(r *http.Request) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/+="
	id := r.Header.Get(requestIDHeader)
	if id != "" && len(id) <= 128 && strings.Trim(id, safe) == "" {
		return id
	}
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// recoverPanics responds to a panic with an error that does not reveal it.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler { //nolint:errorlint // the value itself
				panic(v)
			}
			id := w.Header().Get(requestIDHeader)
			s.logPanic(r.Context(), id, v)
			if res, ok := w.(*response); !ok || res.abort() {
				panic(http.ErrAbortHandler) // the client must not take the response for complete
			}
			problem.Write(w, r, problem.New(problem.Internal, "internal error; the server's log has the details of request %s", id))
		}()
		next.ServeHTTP(w, r)
	})
}

// logPanic logs a panic. Its value may quote the request, so it is logged at level debug, unless
// the runtime made it.
func (s *Server) logPanic(ctx context.Context, id string, v any) {
	cause := fmt.Sprintf("%T", v)
	if _, ok := v.(runtime.Error); ok {
		cause = fmt.Sprint(v)
	}
	s.o.Log.LogAttrs(ctx, slog.LevelError, "panic", slog.String("request_id", id), slog.String("error", cause), slog.String("stack", string(debug.Stack())))
	s.o.Log.LogAttrs(ctx, slog.LevelDebug, "value of the panic", slog.String("request_id", id), slog.String("error", fmt.Sprint(v)))
}
