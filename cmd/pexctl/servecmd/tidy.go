package servecmd

import (
	"context"
	"time"

	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/server/manager"
)

// tidyInterval is how often the server deletes runs.
const tidyInterval = time.Hour

// tidy deletes the runs of all tenants that ended longer ago than limits.per_tenant.keep_runs,
// at once and then every hour, until ctx ends.
func (d *daemon) tidy(ctx context.Context) {
	for _, t := range d.tenants {
		if err := t.manager.LoadUsage(ctx); err != nil && ctx.Err() == nil {
			d.log.Error("read the costs of the day", "tenant", t.name, "error", err)
		}
	}
	keep := d.setup.config.Limits.PerTenant.KeepRuns
	if keep == 0 {
		return
	}
	tick := time.NewTicker(tidyInterval)
	defer tick.Stop()
	for {
		for _, t := range d.tenants {
			d.removeEnded(ctx, t, keep)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (d *daemon) removeEnded(ctx context.Context, t *tenant, keep time.Duration) {
	n, err := t.manager.RemoveEnded(ctx, time.Now().Add(-keep))
	if n > 0 {
		d.log.Info("deleted "+text.Count(n, "run")+" older than limits.per_tenant.keep_runs", "tenant", t.name)
	}
	if err != nil && ctx.Err() == nil {
		d.log.Error("delete old runs", "tenant", t.name, "error", err)
	}
	n, err = t.runs.SweepArtifacts()
	if n > 0 {
		d.log.Info("deleted "+text.Count(n, "artifact")+" that no run uses", "tenant", t.name)
	}
	if err != nil {
		d.log.Error("delete unused artifacts", "tenant", t.name, "error", err)
	}
}

// warnOfUnknownCosts logs the agents that limits.per_tenant.cost_per_day keeps from running.
func (d *daemon) warnOfUnknownCosts() {
	limit := d.setup.config.Limits.PerTenant.CostPerDay
	if limit == 0 {
		return
	}
	for _, a := range d.agents.All() {
		if most := costbound.Bound(a.Program, costbound.Options{}).Limited.Cost; most.Exceeds(limit) {
			why := &manager.CostLimitError{Agent: a.Program.Name, Most: most, Limit: limit}
			d.log.Warn("limits.per_tenant.cost_per_day rejects the runs of an agent", "agent", a.Name, "reason", why)
		}
	}
}
