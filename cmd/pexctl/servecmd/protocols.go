package servecmd

import (
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agui"
)

// routes returns the protocols of the server besides its API.
func (d *daemon) routes(clients *access.Server) []server.Route {
	body := d.setup.config.Limits.Body
	return []server.Route{
		d.mcpRoute(clients),
		{Paths: agui.Paths(), Handler: agui.New(agui.Options{Access: clients, MaxBody: body}), Form: agui.Form()},
	}
}
