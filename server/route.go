package server

import (
	"net/http"
	"strings"

	"github.com/pexctl/pex/server/problem"
)

// Route is a part of the paths of a server, for one protocol.
type Route struct {
	// Paths are the paths of the protocol. One that ends with / stands for all below it,
	// except / itself.
	Paths   []string
	Handler http.Handler
	Form    problem.Form // how clients of the protocol expect errors; zero = RFC 9457
}

// has reports whether a path belongs to the route.
func (r *Route) has(path string) bool {
	for _, p := range r.Paths {
		if path == p || len(p) > 1 && strings.HasSuffix(p, "/") && strings.HasPrefix(path, p) {
			return true
		}
	}
	return false
}

// route returns the route of a request, or nil.
func (s *Server) route(r *http.Request) *Route {
	for i := range s.o.Routes {
		if s.o.Routes[i].has(r.URL.Path) {
			return &s.o.Routes[i]
		}
	}
	return nil
}

// handler responds to authenticated requests.
func (s *Server) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if route := s.route(r); route != nil {
			route.Handler.ServeHTTP(w, r)
			return
		}
		s.o.Handler.ServeHTTP(w, r)
	})
}
