package servecmd

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/providers/otel"
	"github.com/pexctl/pex/server"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/problem"
)

// metricsPath is where Prometheus reads the metrics.
const metricsPath = "/metrics"

// openMetrics opens the metrics of a server. A server within a command has none.
func (d *daemon) openMetrics(c *ui.Call) {
	if d.setup.owner != nil || c.Metrics == nil {
		return
	}
	var s otel.Scrape
	if d.setup.config.Metrics.Tenants {
		s.Tenant = d.setup.config.Tenants.Default
	}
	d.metrics = c.Metrics(s, func(err error) { d.log.Warn("traces or metrics are not exported", "error", err) })
}

// committed returns runs.Env.Committed.
func (d *daemon) committed() func(time.Duration) {
	if d.metrics == nil {
		return nil
	}
	return d.metrics.Committed
}

// refused returns manager.Options.Refused.
func (d *daemon) refused() func(string) {
	if d.metrics == nil {
		return nil
	}
	return d.metrics.Refused
}

// observe has the metrics read what the runs do now, and measure requests.
func (d *daemon) observe(o *server.Options, streams *feed.Streams) error {
	if d.metrics == nil {
		return nil
	}
	o.Observe = func(method, route string, status int, took time.Duration) {
		if route != metricsPath {
			d.metrics.Request(method, route, status, took)
		}
	}
	return d.metrics.Observe(func() (out []otel.Load) {
		for name, t := range d.tenants {
			active, queued := t.manager.Load()
			out = append(out, otel.Load{
				Tenant: name, Active: active, Queued: queued,
				Questions: t.manager.CountQuestions(context.Background()), Watchers: streams.LenOf(name),
			})
		}
		return out
	})
}

// metricsRoute serves the metrics.
func (d *daemon) metricsRoute() server.Route {
	h := d.metrics.Handler()
	return server.Route{Paths: []string{metricsPath}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case h == nil:
			problem.Write(w, r, problem.New(problem.Unavailable, "the server has no metrics; its log has the cause"))
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			problem.Write(w, r, problem.New(problem.MethodNotAllowed, "%s is not allowed here; use GET", r.Method))
		case !d.mayScrape(r.Context()):
			problem.Write(w, r, problem.New(problem.Forbidden, "the metrics are for clients of the default tenant with the role admin, or a role in metrics.roles of the server file"))
		default:
			w.Header().Set("Cache-Control", "no-store")
			h.ServeHTTP(w, r)
		}
	})}
}

// mayScrape reports whether a client may read the metrics, which are those of all tenants.
func (d *daemon) mayScrape(ctx context.Context) bool {
	id, ok := auth.FromContext(ctx)
	config := d.setup.config
	if !ok || id.Tenant != config.Tenants.Default {
		return false
	}
	return slices.ContainsFunc(id.Roles, func(role string) bool { return role == auth.Admin || slices.Contains(config.Metrics.Roles, role) })
}
