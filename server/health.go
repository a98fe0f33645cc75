package server

import (
	"net/http"
	"time"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/problem"
)

// health responds to requests about the server itself, which need no authentication.
func (s *Server) health(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, map[string]string{"status": "ok"}) })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, map[string]string{"version": s.o.Version}) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isProbe(r) {
			mux.ServeHTTP(w, r)
		} else {
			next.ServeHTTP(w, r)
		}
	})
}

func isProbe(r *http.Request) bool {
	switch r.URL.Path {
	case "/healthz", "/readyz", "/version":
		return r.Method == http.MethodGet || r.Method == http.MethodHead
	default:
		return false
	}
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if s.stopping.Load() {
		problem.Write(w, r, problem.New(problem.ShuttingDown, "the server is shutting down").Retry(5*time.Second))
		return
	}
	if s.o.Ready != nil {
		if err := s.o.Ready(r.Context()); err != nil {
			problem.Write(w, r, problem.New(problem.Unavailable, "%s", err).Retry(5*time.Second))
			return
		}
	}
	writeJSON(w, map[string]string{"status": "ready"})
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(jsonvalue.Encode(v), '\n')) // the client may be gone
}
