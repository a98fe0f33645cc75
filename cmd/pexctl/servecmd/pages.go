package servecmd

import (
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/web"
)

// pages returns the user interface.
func (d *daemon) pages(c *ui.Call, clients *access.Server) *web.UI {
	return web.New(web.Options{
		Access: clients, Name: d.setup.config.Name, Version: version.String(), Secure: d.setup.config.TLS != nil || strings.HasPrefix(d.setup.config.PublicURL, "https:"),
		SignIn:  func() bool { return d.setup.config.Auth != nil },
		Secrets: func(r *runs.Run) *secret.Values { return host.Hidden(c.Catalog, r.Program, r.Host.Env) },
	})
}
