package api

import (
	"context"
	"net/http"
	"time"

	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/usage"
)

func (a *operations) addUsage() {
	add(a, describe{
		id: "getUsage", method: http.MethodGet, path: "/v1/usage", tag: "usage", summary: "Get the usage of the tenant",
		text: "Runs that execute and wait, and the cost of the current UTC day. A run that has ended counts on the day on which it ended. " +
			"With a limit, a run that has not ended reserves the most that it may cost. Runs of commands do not count. " +
			"With by, history has the usage of all runs that the client may view, by the time of their start.",
		responses: map[int]any{200: Usage{}}, problems: []int{403, 422},
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

	History []usage.Point `json:"history,omitempty" doc:"With by: usage by day or week, and agent; nothing for those without runs."`
}

type usageRequest struct {
	By    string `query:"by" enum:"day,week" doc:"Include history, by day or by week (from Monday)."`
	Since string `query:"since" doc:"With by: only runs that started at this time or later (RFC 3339; default: 30 days or 26 weeks ago)."`
	Until string `query:"until" doc:"With by: only runs that started before this time (RFC 3339; default: now)."`
	Agent string `query:"agent" maxLength:"200" doc:"With by: only runs of this agent."`
}

func (s *server) usage(ctx context.Context, in *usageRequest) (reply, error) {
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
	if in.By != "" {
		h, err := in.history(u.Renews)
		if err != nil {
			return nil, err
		}
		if out.History, err = c.UsageOver(ctx, h); err != nil {
			return nil, err
		}
	}
	return replyJSON(http.StatusOK, out)
}

// history returns the history that a request selects. renews is the end of the current day.
func (in *usageRequest) history(renews time.Time) (h access.History, err error) {
	h = access.History{By: usage.Period(in.By), Agent: in.Agent}
	if h.Since, err = timeOf("since", in.Since); err != nil {
		return h, err
	}
	if h.Until, err = timeOf("until", in.Until); err != nil {
		return h, err
	}
	if h.Until.IsZero() {
		h.Until = renews
	}
	if h.Since.IsZero() {
		h.Since = h.By.Back(h.Until)
	}
	return h, nil
}
