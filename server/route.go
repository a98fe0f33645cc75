package server

import (
	"net/http"
	"slices"
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
		h, paths := s.o.Handler, []string(nil)
		if route := s.route(r); route != nil {
			h, paths = route.Handler, route.Paths
		}
		defer recordRoute(r, paths)
		h.ServeHTTP(w, r)
	})
}

// recordRoute stores the pattern that a ServeMux found for a request. Without one, it is the path
// of the route, if it is not a pattern itself.
func recordRoute(r *http.Request, paths []string) {
	e, ok := r.Context().Value(entryKey{}).(*entry)
	if !ok {
		return
	}
	_, pattern, found := strings.Cut(r.Pattern, " ")
	switch {
	case found:
		e.route = pattern
	case r.Pattern != "" && r.Pattern != "/":
		e.route = r.Pattern
	case r.Pattern == "" && slices.Contains(paths, r.URL.Path):
		e.route = r.URL.Path
	case r.Pattern == "" && len(paths) > 0:
		i := slices.IndexFunc(paths, func(p string) bool { return strings.HasSuffix(p, "/") && strings.HasPrefix(r.URL.Path, p) })
		if i >= 0 {
			e.route = paths[i]
		}
	}
}
