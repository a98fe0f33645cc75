package servecmd

import (
	"net/http"
	"slices"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/a2a"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agui"
	"github.com/pexctl/pex/server/mcp"
	"github.com/pexctl/pex/server/openai"
	"github.com/pexctl/pex/server/web"
)

// routes returns the pages and the protocols of the server besides its API.
func (d *daemon) routes(c *ui.Call, clients *access.Server) []server.Route {
	pages, body := d.pages(c, clients), d.setup.config.Limits.Body
	return append(d.mcpRoutes(clients), []server.Route{
		d.opensearchRoute(clients), // before the pages, since it may have /
		{Paths: pages.Paths(), Handler: pages, Form: pages.Form()},
		d.metricsRoute(),
		d.openaiRoute(clients),
		{Paths: agui.Paths(), Handler: agui.New(agui.Options{Access: clients, MaxBody: body}), Form: agui.Form()},
		{Paths: a2a.Paths(), Handler: a2a.New(a2a.Options{Access: clients, MaxBody: body, NeedToken: d.setup.config.Auth != nil}), Form: a2a.Form()},
	}...)
}

// isPublic reports whether a request needs no identity.
func isPublic(r *http.Request) bool {
	return web.IsPublic(r) || slices.Contains(mcp.MetadataPaths(), r.URL.Path)
}

// openaiRoute serves OpenAI clients.
func (d *daemon) openaiRoute(clients *access.Server) server.Route {
	config := d.setup.config
	h := openai.New(openai.Options{
		Access: clients, MaxBody: config.Limits.Body, Progress: openai.Progress(config.OpenAI.Progress), TrustUserHeaders: config.OpenAI.TrustUserHeaders,
	})
	return server.Route{Paths: openai.Paths(), Handler: h, Form: openai.Form()}
}
