package servecmd

import (
	"path/filepath"

	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/opensearch"
	"github.com/pexctl/pex/server/registry"
)

// opensearchRoute returns the API of OpenSearch.
func (d *daemon) opensearchRoute(of *access.Server) server.Route {
	config := d.setup.config
	paths, handler, form := opensearch.New(opensearch.Options{
		Access: of, Registry: func(tenant string) *registry.Registry { return d.tenants[tenant].registry },
		MaxBody: config.Limits.Body, Closed: !config.OpenSearch.Register, Info: config.OpenSearch.Info, Version: version.String(),
	})
	return server.Route{Paths: paths, Handler: handler, Form: form}
}

// openRegistry reads what the clients of a tenant registered, so that its agents are known before
// runs continue.
func (d *daemon) openRegistry(t *tenant) (err error) {
	config := d.setup.config.OpenSearch
	t.agents = d.agents.Tenant()
	t.registry, err = registry.Open(registry.Options{
		Dir: filepath.Join(t.home, "registered"), Agents: t.agents, Log: d.log,
		Policy: registry.Policy{Endpoints: config.Endpoints, Env: config.Env},
	})
	return err
}
