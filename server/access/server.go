package access

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/webhook"
)

// Server has what its clients can access.
type Server struct {
	// Tenant returns the runs of a tenant, or nil if there is no such tenant.
	Tenant func(name string) *Tenant
	Agents *agents.Set
	// Streams limits the feeds that are open at once; nil = no limit.
	Streams *feed.Streams
	// PublicURL is the origin by which clients reach the server; "" = that of each request.
	PublicURL string
	Log       *slog.Logger // for errors that are not the client's; must not be nil
	// Owner is the person whose own process the server is a part of: all clients act as the owner,
	// who may override any value of a spec. Nil = each client is its identity.
	Owner *engine.Actor
}

// Tenant has the runs of a tenant.
type Tenant struct {
	Name    string
	Owner   string // of its conversations; "" = the default tenant
	Home    string // folder
	Runs    *runs.Service
	Manager *manager.Manager
	// Memories returns the folders of conversations; nil = none.
	Memories func() []agents.Memory
	// Evals is the folder of the evaluations; "" = none.
	Evals string
	// Artifacts are the files that clients upload for runs; nil = none.
	Artifacts *artifact.Store
	Webhooks  *webhook.Outbox // nil = none
	// Agents are those of the server and of the tenant; nil = those of the server.
	Agents *agents.Set
}

// Origin returns the origin of the server as the client of a request, or the proxy before the
// server, names it.
func (s *Server) Origin(r *http.Request) string {
	switch {
	case s.PublicURL != "":
		return s.PublicURL
	case r.TLS != nil, r.Header.Get("X-Forwarded-Proto") == "https":
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// Client returns the client of a request. Its error is a problem.
func (s *Server) Client(ctx context.Context) (*Client, error) {
	id, ok := auth.FromContext(ctx)
	if !ok {
		return nil, problem.New(problem.Unauthorized, "the request has no identity")
	}
	t := s.Tenant(id.Tenant)
	if t == nil {
		return nil, problem.New(problem.NotFound, "no such tenant")
	}
	return &Client{t, id, s}, nil
}
