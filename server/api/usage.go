package api

import (
	"context"
	"net/http"
	"time"

	"github.com/pexctl/pex/server/auth"
)

func (a *operations) addUsage() {
	add(a, describe{
		id: "getUsage", method: http.MethodGet, path: "/v1/usage", tag: "usage", summary: "Get the usage of the tenant",
		text: "Runs that execute and wait, and the cost of the current UTC day. A run that has ended counts on the day on which it ended. " +
			"With a limit, a run that has not ended reserves the most that it may cost. Runs of commands do not count.",
		responses: map[int]any{200: Usage{}}, problems: []int{403},
	}, a.server.usage)
}

// Usage is what a tenant uses of its limits.
type Usage struct {
	Running  int       `json:"running" doc:"Runs that execute, or are in memory while they wait for an answer."`
	Queued   int       `json:"queued" doc:"Runs that wait for their turn."`
	Watchers int       `json:"watchers" doc:"Requests that watch a run or wait for its result."`
	Spent    float64   `json:"cost_usd" doc:"Cost of the runs that ended today, in USD."`
	Reserved float64   `json:"reserved_usd" doc:"The most that the runs that have not ended may cost; 0 without a limit."`
	Limit    *float64  `json:"limit_usd,omitempty" doc:"limits.per_tenant.cost_per_day of the server; missing = no limit."`
	Left     *float64  `json:"left_usd,omitempty" doc:"What is neither spent nor reserved; missing = no limit."`
	Renews   time.Time `json:"renews_at" doc:"When the next day starts."`
}

func (s *server) usage(ctx context.Context, _ *struct{}) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.Permit(auth.View, nil); err != nil {
		return nil, err
	}
	u, err := c.Manager.Usage(ctx)
	if err != nil {
		return nil, err
	}
	out := Usage{Watchers: s.Streams.LenOf(c.Name), Spent: u.Spent, Reserved: u.Reserved, Renews: u.Renews}
	out.Running, out.Queued = c.Manager.Load()
	if u.Limit > 0 {
		left := u.Left()
		out.Limit, out.Left = &u.Limit, &left
	}
	return replyJSON(http.StatusOK, out)
}
