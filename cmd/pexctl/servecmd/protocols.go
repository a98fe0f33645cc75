package servecmd

import (
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agui"
)

// routes returns the pages and the protocols of the server besides its API.
func (d *daemon) routes(c *ui.Call, clients *access.Server) []server.Route {
	pages, body := d.pages(c, clients), d.setup.config.Limits.Body
	return []server.Route{
		{Paths: pages.Paths(), Handler: pages, Form: pages.Form()},
		d.mcpRoute(clients),
		{Paths: agui.Paths(), Handler: agui.New(agui.Options{Access: clients, MaxBody: body}), Form: agui.Form()},
	}
}
