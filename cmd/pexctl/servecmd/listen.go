package servecmd

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"

	formats "github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/internal/gctune"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/cassette"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/api"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/auth/oidc"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/mcp"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/web"
)

// run serves requests until a signal stops the command, and then suspends the runs. It releases
// the claim to the home.
func (d *daemon) run(c *ui.Call, listener net.Listener, claim homedir.Claim) error {
	defer func() {
		if err := claim.Release(); err != nil {
			d.log.Error("release the home", "error", err)
		}
	}()
	if err := claim.Announce(d.urlOf(listener)); err != nil { // the disk may be full
		d.log.Warn("pexctl ui will not find this server", "error", err)
	}
	gctune.Serving()
	ready := &readiness{home: d.setup.home, log: d.log}
	s, err := d.newServer(c, ready)
	if err != nil {
		return err
	}
	ctx, end := ui.OnTermination(c.Context, func() { d.log.Info("shutting down; a second signal stops at once") })
	defer end()
	go d.reloadOnHangup(ctx)
	go d.work(ctx, func() { ready.recovered.Store(true) })
	err = s.Serve(ctx, listener)
	d.close()
	if err != nil {
		return failure.Infra(err)
	}
	return ui.Exit(ui.SignalCode(context.Cause(ctx)), nil)
}

func (d *daemon) newServer(c *ui.Call, ready *readiness) (*server.Server, error) {
	config := d.setup.config
	streams := d.streams()
	clients := d.access(streams)
	guard, err := d.newGuard(c, clients)
	if err != nil {
		return nil, err
	}
	o := server.Options{
		Handler: d.handler(c, clients), Routes: d.routes(c, clients), IsUpload: isUpload, Auth: guard, Streams: streams, Version: version.String(),
		Limits: server.Limits{Body: config.Limits.Body, Upload: config.Limits.Upload, Header: int(config.Limits.Header), Connections: config.Limits.Connections},
		Ready:  ready.check,
		Drain:  d.suspend, Grace: config.Grace + closeTime, Log: d.log,
	}
	if err := d.observe(&o, streams); err != nil {
		return nil, failure.Infra(err)
	}
	if config.TLS != nil {
		o.TLS = &server.Certificate{Cert: config.TLS.Cert, Key: config.TLS.Key}
	}
	s, err := server.New(o)
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	return s, nil
}

// isUpload reports whether the body of a request is a file, or a form with files.
func isUpload(r *http.Request) bool { return api.IsUpload(r) || web.IsUpload(r) }

// streams limits the requests that watch a run or wait for its result.
func (d *daemon) streams() *feed.Streams {
	limits := d.setup.config.Limits
	return feed.NewStreams(limits.Watchers, limits.PerTenant.Watchers)
}

// access returns what the clients of the server can access.
func (d *daemon) access(streams *feed.Streams) *access.Server {
	return &access.Server{Tenant: d.tenant, Agents: d.agents, Streams: streams, PublicURL: d.setup.config.PublicURL, Log: d.log, Owner: d.setup.owner}
}

func (d *daemon) handler(c *ui.Call, clients *access.Server) http.Handler {
	return api.New(api.Options{
		Access:  clients,
		Version: version.String(), MaxBody: d.setup.config.Limits.Body, MaxUpload: d.setup.config.Limits.Upload,
		Report: func(w io.Writer, format string, r *report.Report, rows trial.Rows) error {
			f, err := formats.New(format, formats.Settings{})
			if err != nil {
				return err
			}
			return f.Write(w, r, rows)
		},
		Export: func(w io.Writer, r *runs.Run) error {
			err := cassette.Export(w, r.Records, host.Secrets(c.Catalog, r.Program, r.Host.Env))
			if refused, ok := errors.AsType[*cassette.Refused](err); ok {
				return problem.New(problem.NotExportable, "%v", refused)
			}
			return err
		},
	})
}

// tenant returns the runs of a tenant, or nil.
func (d *daemon) tenant(name string) *access.Tenant {
	t := d.tenants[name]
	if t == nil {
		return nil
	}
	return &access.Tenant{
		Name: name, Owner: t.owner, Home: t.home, Runs: t.runs, Manager: t.manager,
		Memories: func() []agents.Memory { return t.agents.Memories(d.memory, t.home, t.owner) },
		Agents:   t.agents, Artifacts: t.artifacts, Evals: project.EvalsDir(t.home), Webhooks: t.outbox,
	}
}

// newGuard returns the authentication of the server file.
func (d *daemon) newGuard(c *ui.Call, clients *access.Server) (*auth.Guard, error) {
	config := d.setup.config
	tokens, err := d.tokens()
	if err != nil {
		return nil, err
	}
	issuer, err := d.issuer()
	if err != nil {
		return nil, err
	}
	host, _, _ := net.SplitHostPort(config.Listen) // was validated
	d.guard, err = auth.New(auth.Options{
		Tokens: tokens, OIDC: issuer, Log: d.log, DefaultTenant: config.Tenants.Default, Tenants: config.Tenants.Known, TenantHeader: config.Tenants.Header,
		Hosts: []string{host}, AnyHost: c.Bool("insecure"), Origins: config.Origins, Public: isPublic, Page: web.IsPage, Metadata: mcp.MetadataURL(clients),
	})
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	return d.guard, nil
}

// tokens returns the tokens of the server file, or nil if it has none.
func (d *daemon) tokens() (*auth.Tokens, error) {
	config := d.setup.config
	if config.Auth == nil || config.Auth.File == "" {
		return nil, nil
	}
	var all []auth.Token
	for _, t := range config.Auth.Tokens {
		all = append(all, auth.Token{Name: t.Name, SHA256: t.SHA256, Tenant: t.Tenant, Roles: t.Roles})
	}
	tokens, err := auth.NewTokens(all)
	if err != nil {
		return nil, failure.Usagef("%s: %w", config.Auth.File, err)
	}
	return tokens, nil
}

// issuer returns the OpenID Connect issuer of the server file, or nil if it has none. The
// keys of the same issuer are kept.
func (d *daemon) issuer() (*auth.OIDC, error) {
	if d.setup.config.Auth == nil || d.setup.config.Auth.OIDC == nil {
		return nil, nil
	}
	c := d.setup.config.Auth.OIDC
	if of := [2]string{c.Issuer, c.Audience}; d.verifier == nil || d.verifierOf != of {
		transport, err := httpclient.Pool(httpclient.CertificatesOf(os.Getenv))
		if err != nil {
			return nil, failure.Usagef("%w", err)
		}
		d.verifier, d.verifierOf = oidc.New(oidc.Options{Issuer: c.Issuer, Audience: c.Audience, Transport: transport}), of
	}
	return &auth.OIDC{Verifier: d.verifier, Issuer: c.Issuer, Subject: c.Subject, Tenant: c.Tenant, Roles: c.Roles, Known: c.Known}, nil
}
