package opensearch

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/jsonbody"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/registry"
)

const base = "/_plugins/_ml"

// maxFilter is the size of the query parameter filter_path, in bytes.
const maxFilter = 1000

// Options configure the API.
type Options struct {
	Access *access.Server
	// Registry returns what the clients of a tenant registered.
	Registry func(tenant string) *registry.Registry
	MaxBody  int64 // of requests; 0 = jsonbody.MaxBody
	Closed   bool  // clients cannot register
	// Info responds to GET / as a cluster does, which some clients ask for first.
	Info    bool
	Version string // of pexctl, for Info
}

// New returns the paths of the API, their handler, and the form of its errors.
func New(o Options) (paths []string, h http.Handler, form problem.Form) {
	s := &service{Options: o, mux: http.NewServeMux()}
	s.addRegistry()
	s.addExecute()
	s.addMemory()
	paths = []string{base, base + "/"}
	if o.Info {
		paths = append(paths, "/")
	}
	return paths, s, executeForm
}

type service struct {
	Options
	mux *http.ServeMux // with paths below base, without a slash at the end
}

// call is a request with its client.
type call struct {
	*access.Client
	registry *registry.Registry
	closed   bool // nothing can be registered
	w        http.ResponseWriter
	r        *http.Request
	body     registry.Body // nil without a body
	raw      []byte
}

func (c *call) path(name string) string { return c.r.PathValue(name) }

func (c *call) ctx() context.Context { return c.r.Context() }

// object is a JSON object of a response.
type object = map[string]any

// handler returns a value to respond with, or nil if it has responded.
type handler func(c *call) (any, error)

// handle adds an operation. Its errors have the form of documents, or of executions.
func (s *service) handle(pattern string, form problem.Form, h handler) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		r = problem.WithForm(r, form)
		c, err := s.call(w, r)
		var reply any
		if err == nil {
			reply, err = h(c)
		}
		switch {
		case err != nil:
			problem.Write(w, r, s.Access.Problem(r, ofRegistry(err)))
		case reply != nil:
			respond(w, r, reply)
		}
	})
}

// call reads a request.
func (s *service) call(w http.ResponseWriter, r *http.Request) (*call, error) {
	client, err := s.Access.Client(r.Context())
	if err != nil {
		return nil, err
	}
	if len(r.URL.Query().Get("filter_path")) > maxFilter {
		return nil, problem.New(problem.InvalidRequest, "filter_path has more than %d bytes", maxFilter)
	}
	c := &call{Client: client, registry: s.Registry(client.Name), closed: s.Closed, w: w, r: r}
	b, bad := jsonbody.Read(w, r, s.MaxBody)
	if bad != nil {
		return nil, bad
	}
	if source := r.URL.Query().Get("source"); len(b) == 0 && source != "" {
		b = []byte(source)
	}
	if len(strings.TrimSpace(string(b))) == 0 {
		return c, nil
	}
	c.raw = b
	if err := json.Unmarshal(b, &c.body); err != nil || c.body == nil {
		return nil, problem.New(problem.InvalidJSON, "the request body must be a JSON object")
	}
	return c, nil
}

// ServeHTTP implements http.Handler.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" {
		s.info(w, r)
		return
	}
	inner := r.Clone(r.Context())
	inner.URL.Path = "/" + strings.Trim(strings.TrimPrefix(r.URL.Path, base), "/")
	inner.URL.RawPath = ""
	if _, pattern := s.mux.Handler(inner); pattern == "" {
		s.unknown(w, r, inner.URL.Path)
		return
	}
	s.mux.ServeHTTP(w, inner)
}

// info responds as a cluster to the question what it is.
func (s *service) info(w http.ResponseWriter, r *http.Request) {
	respond(w, r, object{
		"name": "pex", "cluster_name": "pex", "tagline": "pexctl serve, with the API of OpenSearch's ML Commons below " + base,
		"version": object{
			"distribution": "opensearch", "number": "3.0.0", "build_type": "pexctl " + s.Version,
			"minimum_wire_compatibility_version": "2.19.0", "minimum_index_compatibility_version": "2.0.0",
		},
	})
}

// respond writes JSON, as filter_path and pretty of the query ask for it.
func respond(w http.ResponseWriter, r *http.Request, reply any) {
	q := r.URL.Query()
	if filter := q.Get("filter_path"); filter != "" {
		reply = filterPath(jsonvalue.Decode(jsonvalue.Encode(reply)), strings.Split(filter, ","))
	}
	b := jsonvalue.Encode(reply)
	if q.Has("pretty") && q.Get("pretty") != "false" {
		if indented, err := jsonvalue.MarshalIndent(reply); err == nil {
			b = indented
		}
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=UTF-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(append(b, '\n')) // the client may be gone
}

// admin returns a problem unless the client may register.
func (c *call) admin() error {
	if c.closed {
		return problem.New(problem.Forbidden, "the server file says opensearch: {register: false}")
	}
	return c.Permit(auth.Admin, nil)
}

// notBuilt are operations that this server does not have, by how their paths begin or end, and what
// to use instead.
var notBuilt = []struct{ begin, end, instead string }{
	{"/model_groups/", "", "models have no groups; leave model_group_id out"},
	{"/models/", "/_predict", "models answer agents only; execute an agent"},
	{"/models/", "/_predict/stream", "models answer agents only; execute an agent"},
	{"/models/_", "", "this server runs no local models; register a model with function_name remote and a connector"},
	{"/_predict", "", "this server runs no local models; execute an agent"},
	{"/_train", "", "this server trains no models"},
	{"/_execute", "", "this server runs no local algorithms; execute an agent at /agents/ID/_execute"},
	{"/memory_containers", "", "memory of type conversation_index stores conversations; see /memory"},
	{"/mcp", "", "agents are MCP tools at /mcp of this server"},
	{"/tools/_execute", "", "tools run within agents, which journal and approve their calls; execute an agent that has the tool"},
	{"/profile", "", "GET /v1/runs/RUN has the usage of a run"},
	{"", "/stats", "GET /v1/usage has the usage of a tenant"},
	{"/stats", "", "GET /v1/usage has the usage of a tenant"},
}

// unknown responds to a request that has no handler.
func (s *service) unknown(w http.ResponseWriter, r *http.Request, path string) {
	p := problem.New(problem.InvalidRequest, "no handler found for uri [%s] and method [%s]", (&url.URL{Path: r.URL.Path}).EscapedPath(), r.Method)
	for _, n := range notBuilt {
		if strings.HasPrefix(path+"/", n.begin) && strings.HasSuffix(path, n.end) {
			p = problem.New(problem.NotSupported, "this server does not have this operation: %s", n.instead)
			break
		}
	}
	problem.Write(w, problem.WithForm(r, documentForm), p)
}
