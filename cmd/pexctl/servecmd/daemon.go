package servecmd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/host"
	"github.com/pexctl/pex/providers/otel"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/auth/oidc"
	"github.com/pexctl/pex/server/logs"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/registry"
	"github.com/pexctl/pex/server/webhook"
)

// daemon is a server with everything that it uses.
type daemon struct {
	setup   *setup
	log     *slog.Logger
	memory  *agents.SharedMemory
	schemas *schema.Cache
	hidden  *secret.Cache
	agents  *agents.Set
	tenants map[string]*tenant
	guard   *auth.Guard
	metrics *otel.Metrics // nil = none

	webhooks *webhook.Dispatcher

	verifier   *oidc.Verifier // nil without an issuer
	verifierOf [2]string      // its issuer and audience
}

// tenant is the home of a tenant and what executes its runs.
type tenant struct {
	name, home string
	owner      string // of its conversations; "" = the default tenant
	runs       *runs.Service
	manager    *manager.Manager
	artifacts  *artifact.Store
	outbox     *webhook.Outbox
	agents     *agents.Set // of the server and of the tenant
	registry   *registry.Registry
}

func newDaemon(c *ui.Call, s *setup, log *slog.Logger) (*daemon, error) {
	d := &daemon{setup: s, log: log, tenants: map[string]*tenant{}, memory: agents.NewSharedMemory(c.Catalog.Memory), schemas: &schema.Cache{}, hidden: &secret.Cache{}}
	d.openMetrics(c)
	components := d.components(c)
	definitions, err := s.definitions()
	if err != nil {
		return nil, err
	}
	compile := s.compile
	if s.file != "" {
		compile.Set = nil // they were for the server file
	}
	d.agents, err = agents.Load(agents.Options{
		Catalog: &components, Compile: compile,
		Trust: func(spec *dsl.Spec) error { return project.CheckTrust(c, spec, s.home) },
		Found: func(found diag.List) { _ = ui.ShowDiagnostics(c, found) }, // warnings
	}, definitions)
	if invalid, ok := errors.AsType[*agents.InvalidError](err); ok {
		return nil, ui.ShowDiagnostics(c, invalid.Found)
	}
	if err != nil {
		return nil, failure.Usagef("%w", err)
	}
	limits := s.config.Limits
	slots := manager.NewSlots(manager.Limits{
		Running: limits.ConcurrentRuns, RunningPerTenant: limits.PerTenant.ConcurrentRuns,
		Waiting: limits.QueuedRuns, PerMinutePerTenant: limits.PerTenant.RunsPerMinute,
	})
	d.warnOfUnknownCosts()
	homedir.Create(s.home)
	if err := d.newDispatcher(); err != nil {
		return nil, err
	}
	for _, name := range s.config.Tenants.Known {
		if err := d.addTenant(c, name, slots); err != nil {
			return nil, err
		}
	}
	return d, d.setHooks()
}

// components returns the catalog, with what all runs share.
func (d *daemon) components(c *ui.Call) catalog.Catalog {
	all := *c.Catalog
	all.Memory, all.Schemas, all.Hidden = d.memory.Open, d.schemas, d.hidden
	return all
}

func (d *daemon) addTenant(c *ui.Call, name string, slots *manager.Slots) error {
	t := &tenant{name: name, home: d.setup.home}
	if name != d.setup.config.Tenants.Default {
		t.owner, t.home = name, homedir.OfTenant(d.setup.home, name)
	}
	t.artifacts = artifact.Open(t.home, int64(d.setup.config.Limits.PerTenant.Artifacts))
	components := d.components(c)
	env := host.Runs(&components, t.home, host.Reporter{
		Diagnostics: func(found diag.List) error {
			if found.Failed() {
				return &host.InvalidError{Found: found}
			}
			return nil
		},
		SpecGone: func(file string) {
			d.log.Warn("a spec no longer exists; its runs continue with the original", "spec", file)
		},
	})
	env.Recording, env.Grace, env.ShareSyncs = project.ReadCassette, d.setup.config.Grace, d.setup.owner == nil
	env.Committed = d.committed()
	var err error
	if t.runs, err = runs.Open(t.home, env); err != nil {
		return failure.Infra(err)
	}
	o := manager.Options{
		Runs: t.runs, Slots: slots, Tenant: name, CostPerDay: d.setup.config.Limits.PerTenant.CostPerDay,
		ParkAfter: d.setup.config.ParkAfter, Refused: d.refused(), Log: d.log,
	}
	t.agents = d.agents
	if d.setup.owner == nil { // a server of one spec has neither agents of clients nor webhooks
		if err := d.openRegistry(t); err != nil {
			return failure.Infra(err)
		}
		t.outbox = d.newOutbox(t)
		o.Outbox = outbox{t.outbox}
	}
	t.manager = manager.New(o)
	d.tenants[name] = t
	return nil
}

// newLog returns the log of the server on stderr.
func newLog(c *ui.Call) (*slog.Logger, error) {
	var level slog.Level
	if s := c.String("log-level"); level.UnmarshalText([]byte(s)) != nil || strings.ContainsAny(s, "+-") {
		return nil, failure.Usagef("invalid value %q for --log-level; use debug, info, warn or error", s)
	}
	if c.Quiet {
		level = max(level, slog.LevelWarn)
	}
	log, err := logs.New(c.Stderr, c.String("log-format"), level)
	if err != nil {
		return nil, failure.Usagef("invalid value %q for --log-format; use text or json", c.String("log-format"))
	}
	return log, nil
}

// logFlags returns the flags of newLog. which says what only some levels have.
func logFlags(level, which string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "log-format", Usage: "Log to stderr as `FORMAT`: text or json", Value: "text"},
		&cli.StringFlag{Name: "log-level", Usage: "Log from `LEVEL` on: debug" + which + ", info, warn or error", Value: level},
	}
}

// work does what a server does besides serving requests, until ctx ends. It calls recovered
// once the runs that were in progress continue.
func (d *daemon) work(ctx context.Context, recovered func()) {
	d.recover(ctx)
	recovered()
	d.catchUp(ctx)
	for _, t := range d.tenants {
		go d.continueWithSpace(ctx, t)
	}
	d.tidy(ctx)
}

// close closes what the runs used. They are suspended.
func (d *daemon) close() {
	if err := d.webhooks.Close(); err != nil {
		d.log.Error("close the webhooks", "error", err)
	}
	if err := d.memory.Close(); err != nil {
		d.log.Error("close the memory", "error", err)
	}
}

// recover continues the runs of all tenants that were in progress.
func (d *daemon) recover(ctx context.Context) {
	for _, t := range d.tenants {
		n, err := t.manager.Recover(ctx)
		if err != nil && ctx.Err() == nil {
			d.log.Error("continue runs", "tenant", t.name, "error", err)
		}
		if n > 0 {
			d.log.Info("continuing "+text.Count(n, "run"), "tenant", t.name)
		}
	}
}

// catchUp sends the webhooks that were not delivered before.
func (d *daemon) catchUp(ctx context.Context) {
	for _, t := range d.tenants {
		t.outbox.Recover(ctx)
	}
}

// closeTime is how long the server may take to stop after the grace time of its runs.
const closeTime = 2 * time.Second

// suspend suspends all runs.
func (d *daemon) suspend(ctx context.Context) {
	var all sync.WaitGroup
	for _, t := range d.tenants {
		all.Go(func() {
			if err := t.manager.Close(ctx); err != nil {
				d.log.Warn("some runs did not stop in time; they continue at the next start", "tenant", t.name)
				return // their home is left as after a kill
			}
			if err := t.runs.Close(); err != nil {
				d.log.Error("close the home", "tenant", t.name, "error", err)
			}
		})
	}
	all.Wait()
}

// urlOf returns the address of a listener for clients of this machine.
func (d *daemon) urlOf(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return d.scheme() + "://" + net.JoinHostPort(host, port)
}

func (d *daemon) scheme() string {
	if d.setup.config.TLS != nil {
		return "https"
	}
	return "http"
}
