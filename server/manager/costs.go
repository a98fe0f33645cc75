package manager

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
)

// costs limits what the runs that clients start may cost per UTC day. A run that has not
// ended reserves the most that it may cost. A run that has ended counts with its cost on the
// day on which it ended. So the limit holds for each day, whenever a run spends its money.
//
// All amounts are read from the summaries of the runs when they are first needed; nothing
// else is stored.
type costs struct {
	limit float64 // USD; 0 = none
	runs  *runs.Service
	live  func(run string) bool // whether a run executes in this process, or is queued

	mu       sync.Mutex
	loaded   bool
	day      time.Time // of spent
	spent    float64
	reserved map[string]float64 // by run that has not ended
	reread   time.Time          // when the reservations were last compared with the runs
}

// Usage is what the runs of a tenant cost.
type Usage struct {
	Spent    float64   // USD, by the runs that ended today
	Reserved float64   // by runs that have not ended; 0 without a limit
	Limit    float64   // per UTC day; 0 = none
	Renews   time.Time // the end of the day
}

// Left returns how much of the limit is neither spent nor reserved.
func (u *Usage) Left() float64 { return max(0, u.Limit-u.Spent-u.Reserved) }

// mostOf returns the most that a run of a program with limits can cost.
func mostOf(p *engine.Program, limits engine.Limits) costbound.Money {
	with := *p
	with.Limits = limits
	return costbound.Bound(&with, costbound.Options{}).Limited.Cost
}

// check returns the error of reserve, without reserving anything.
func (c *costs) check(ctx context.Context, p *engine.Program) error {
	if c.limit == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.fits(ctx, "", p, p.Limits)
	return err
}

// reserve reserves the most that a run can cost, in place of what it has reserved. The error is a *CostLimitError or a
// *QuotaError if the limit does not allow the run.
func (c *costs) reserve(ctx context.Context, run string, p *engine.Program, limits engine.Limits) error {
	if c.limit == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	most, err := c.fits(ctx, run, p, limits)
	if err == nil {
		c.reserved[run] = most
	}
	return err
}

// fits returns the most that a run can cost, or why the limit does not allow it. The caller
// holds mu.
func (c *costs) fits(ctx context.Context, run string, p *engine.Program, limits engine.Limits) (float64, error) {
	most := mostOf(p, limits)
	if most.Exceeds(c.limit) {
		return 0, &CostLimitError{Agent: p.Name, Most: most, Limit: c.limit}
	}
	if err := c.load(ctx); err != nil {
		return 0, err
	}
	u := c.usage(run)
	if most.Most > u.Left() && time.Since(c.reread) > time.Second {
		c.compare(ctx)
		u = c.usage(run)
	}
	if most.Most > u.Left() {
		return 0, &QuotaError{Usage: u, Most: most.Most}
	}
	return most.Most, nil
}

// usage returns the usage without the reservation of a run. The caller holds mu.
func (c *costs) usage(except string) Usage {
	today := time.Now().UTC().Truncate(24 * time.Hour)
	if c.day != today {
		c.day, c.spent = today, 0
	}
	u := Usage{Spent: c.spent, Limit: c.limit, Renews: today.Add(24 * time.Hour)}
	for run, usd := range c.reserved {
		if run != except {
			u.Reserved += usd
		}
	}
	return u
}

// load reads what the runs cost, once. The caller holds mu.
func (c *costs) load(ctx context.Context) error {
	if c.loaded {
		return nil
	}
	all, err := c.runs.Summaries(ctx)
	if err != nil {
		return err
	}
	c.reserved = map[string]float64{}
	u := c.usage("")
	for _, sum := range all {
		switch ended := hasEnded(sum); {
		case !ended && c.limit == 0, ended && (sum.CostUSD == 0 || !c.endedSince(sum, u.Renews.Add(-24*time.Hour))):
		case !c.ofClient(sum):
		case ended:
			c.spent += sum.CostUSD
		default:
			c.reserved[sum.Run] = c.remaining(sum)
		}
	}
	c.loaded = true
	return nil
}

// ofClient reports whether a client started a run. A fork of a run of a command has no agent.
func (c *costs) ofClient(sum *runs.Summary) bool {
	if sum.Agent != "" {
		return true
	}
	start, err := c.runs.StartOf(sum.Run)
	return err == nil && startedByClient(start.Input)
}

// startedByClient reports whether a client of a server started a run, and not an account of a
// machine, as for a command.
func startedByClient(in engine.Input) bool { return in.By != nil && in.By.Host == "" }

// hasEnded reports whether nothing of a run is left to execute, unless a client raises its
// limits.
func hasEnded(sum *runs.Summary) bool {
	return sum.Status != runs.Running && sum.Status != stop.RunInterrupted
}

// remaining returns the most that a run which has not ended can cost.
func (c *costs) remaining(sum *runs.Summary) float64 {
	r, err := c.runs.Read(sum.Run)
	if err != nil {
		return sum.CostUSD // it cannot continue
	}
	if most := mostOf(r.Program, r.Limits()); most.Known() {
		return most.Most
	}
	return sum.CostUSD
}

// endedSince reports whether a run ended at a time or later. Its journal does not change
// after its end.
func (c *costs) endedSince(sum *runs.Summary, at time.Time) bool {
	if !sum.StartedAt.Before(at) {
		return true
	}
	info, err := os.Stat(c.runs.Home().File(sum.Run))
	return err == nil && !info.ModTime().Before(at)
}

// compare settles what other processes ended or removed. The caller holds mu.
func (c *costs) compare(ctx context.Context) {
	c.reread = time.Now()
	for run := range c.reserved {
		if c.live(run) { // it settles itself
			continue
		}
		if _, err := os.Stat(c.runs.Home().File(run)); os.IsNotExist(err) {
			delete(c.reserved, run)
		} else if sum := c.runs.Summary(ctx, run); hasEnded(&sum) {
			c.settleLocked(run, sum.CostUSD)
		}
	}
}

// settle replaces the reservation of a run that has ended by its cost.
func (c *costs) settle(run string, usd float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settleLocked(run, usd)
}

func (c *costs) settleLocked(run string, usd float64) {
	if _, ok := c.reserved[run]; !ok { // load counts it, or has counted it
		return
	}
	delete(c.reserved, run)
	c.usage("") // sets the day
	c.spent += usd
}

// Usage returns what the runs of clients cost today.
func (m *Manager) Usage(ctx context.Context) (Usage, error) {
	c := &m.costs
	if c.limit == 0 { // nothing is counted
		c = &costs{runs: c.runs}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(ctx); err != nil {
		return Usage{}, err
	}
	return c.usage(""), nil
}

// LoadUsage reads what the runs cost, so that the first request need not wait for it.
func (m *Manager) LoadUsage(ctx context.Context) error {
	if m.costs.limit == 0 {
		return nil
	}
	_, err := m.Usage(ctx)
	return err
}
