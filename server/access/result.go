package access

import (
	"context"
	"iter"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
)

// Read returns a run that the client may view.
func (c *Client) Read(id string) (*runs.Run, error) {
	if err := c.CheckRun(auth.View, id); err != nil {
		return nil, err
	}
	return c.Runs.Read(id)
}

// Result returns the result of a run for display.
func (c *Client) Result(ctx context.Context, r *runs.Run, conversation bool) *engine.Result {
	res := r.Show(ctx)
	if !conversation {
		res.Conversation = nil
	}
	if _, queued := c.Manager.Running(res.RunID); queued {
		res.Status, res.StopReason = manager.Queued, stop.Reason{}
	}
	return res
}

// Status returns the status of a run that exists.
func (c *Client) Status(ctx context.Context, id string) stop.RunStatus {
	switch active, queued := c.Manager.Running(id); {
	case queued:
		return manager.Queued
	case active:
		return runs.Running
	}
	return c.Runs.Summary(ctx, id).Status
}

// Await waits until a run has ended or waits for an answer, and returns its result, or nil if
// neither happens in time.
func (c *Client) Await(ctx context.Context, id string, most time.Duration) (*engine.Result, error) {
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	res, ok := c.Manager.AwaitResult(within, id)
	if !ok || res != nil {
		return res, nil
	}
	r, err := c.Runs.Read(id)
	if err != nil {
		return nil, err
	}
	return c.Result(ctx, r, false), nil
}

// Stream is an open stream of the server, which limits them.
type Stream struct {
	Context context.Context // ends with the request and with the server
	Release func()          // must be called
}

// OpenStream opens a stream of events, or a request that waits for a result.
func (c *Client) OpenStream(ctx context.Context) (Stream, error) {
	ctx, release, err := c.server.Streams.Open(ctx, c.Name)
	return Stream{ctx, release}, err
}

// Watch returns the events of a run that the client may view, after a cursor; see
// manager.Manager.Watch.
func (c *Client) Watch(s Stream, id string, after feed.Cursor, deltas bool) (iter.Seq[feed.Item], error) {
	if err := c.CheckRun(auth.View, id); err != nil {
		return nil, err
	}
	return c.Manager.Watch(s.Context, id, after, deltas)
}

// showQueued shows the status of a run that waits for its turn.
func (c *Client) showQueued(sum *runs.Summary) {
	if _, queued := c.Manager.Running(sum.Run); queued && sum.Problem == "" {
		sum.Status, sum.StopReason = manager.Queued, stop.Reason{}
	}
	if sum.Problem != "" {
		sum.Problem = "the journal cannot be read; pexctl store check has details"
	}
}
