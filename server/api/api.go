package api

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/problem"
)

// Options configure the API.
type Options struct {
	Access *access.Server
	// Export writes a run as JSON Lines without secrets. Its error is a problem if the run
	// cannot be exported.
	Export func(w io.Writer, r *runs.Run) error
	// Report writes the report of an evaluation as json or html.
	Report    func(w io.Writer, format string, r *report.Report, rows trial.Rows) error
	Version   string
	MaxBody   int64 // bytes of a request body; 0 = 1 MiB
	MaxUpload int64 // bytes of an artifact; 0 = 32 MiB
}

// server implements the operations.
type server struct {
	Options
	*access.Server
	document []byte // OpenAPI
}

// New returns the handler of the API. Its callers identify the client: see package auth.
func New(o Options) http.Handler {
	if o.MaxUpload == 0 {
		o.MaxUpload = 32 << 20
	}
	s, mux := &server{Options: o, Server: o.Access}, http.NewServeMux()
	s.document = s.register(mux)
	return checkBody(s.route(mux), o.MaxBody)
}

// OpenAPI returns the OpenAPI document of the API.
func OpenAPI(version string) []byte {
	s := &server{Options: Options{Version: version}}
	return s.register(http.NewServeMux())
}

// register adds all operations to a mux and returns their OpenAPI document.
func (s *server) register(mux *http.ServeMux) []byte {
	a := &operations{huma.NewAPI(newConfig(s.Version), humago.NewAdapter(mux, "")), s}
	a.addAgents()
	a.addRuns()
	a.addDecisions()
	a.addSessions()
	a.addMemories()
	a.addUsage()
	a.addArtifacts()
	a.addEvals()
	a.addServer()
	a.addWebhooks()
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.document) })
	return document(a.API.OpenAPI())
}

// route responds to requests for which a mux has no handler with problems.
func (s *server) route(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.Path; p != path.Clean(p) {
			problem.Write(w, r, problem.New(problem.InvalidPath, "the path must not contain empty, . or .. segments, or end with /"))
			return
		}
		if !isText(r.URL.Path) {
			problem.Write(w, r, problem.New(problem.InvalidPath, "the path must be UTF-8 without NUL characters"))
			return
		}
		if query, err := url.QueryUnescape(r.URL.RawQuery); err != nil || !isText(query) {
			problem.Write(w, r, problem.New(problem.InvalidRequest, "the query must be percent-encoded UTF-8 without NUL characters"))
			return
		}
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		if allowed := allowedMethods(mux, r); allowed != "" {
			w.Header().Set("Allow", allowed)
			problem.Write(w, r, problem.New(problem.MethodNotAllowed, "%s is not allowed here; use %s", r.Method, allowed))
			return
		}
		problem.Write(w, r, problem.New(problem.NotFound, "no such resource; /openapi.json describes all"))
	})
}

// isText reports whether a text from a URL is valid UTF-8 without NUL characters.
func isText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

// allowedMethods returns the methods that a mux has for a path, separated by ", ".
func allowedMethods(mux *http.ServeMux, r *http.Request) string {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.Clone(context.WithoutCancel(r.Context()))
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "" {
			allowed = append(allowed, method)
		}
	}
	return strings.Join(allowed, ", ")
}
