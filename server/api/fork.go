package api

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
)

const forkText = `Starts a run that replays another one up to a call and continues live from there. It does not change the
conversation of the other run.`

func (a *operations) addFork() {
	add(a, describe{
		id: "forkRun", method: http.MethodPost, path: "/v1/runs/{run}/fork", tag: "decisions", summary: "Fork a run", text: forkText,
		responses: map[int]any{200: RunRef{}, 201: RunRef{}}, problems: []int{403, 404, 409, 422, 503, 507},
	}, a.server.forkRun)
}

// Fork is the request for a fork.
type Fork struct {
	At      string   `json:"at,omitempty" doc:"Path of the first call to repeat, or the start of it, such as step.s2; empty = the end of the run, or the model call that failed it."`
	OnDrift string   `json:"on_drift,omitempty" enum:"fail,live" doc:"What happens if a call before at differs from the recorded one, for example because set changes the model: fail ends the run (default), live continues live from there."`
	Set     []string `json:"set,omitempty" maxItems:"100" doc:"Overrides of the spec: limits.NAME=VALUE or llms.NAME.model=VALUE."`
	RunID   string   `json:"run_id,omitempty" maxLength:"64" pattern:"^[a-zA-Z0-9][a-zA-Z0-9_.-]*$" doc:"Id of the new run; empty = generated."`
}

type forkRequest struct {
	RunPath
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"Requests with the same key start one run."`
	Body *Fork
}

func (s *server) forkRun(ctx context.Context, in *forkRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.CheckRun(auth.Run, in.Run); err != nil {
		return nil, err
	}
	var f Fork
	if in.Body != nil {
		f = *in.Body
	}
	if err := c.CheckSet(in.Run, f.Set); err != nil {
		return nil, err
	}
	request := access.RequestDigest("fork of "+in.Run, jsonvalue.Encode(f))
	if f.RunID, err = c.NewID(f.RunID, in.Key, "fork of "+in.Run); err != nil {
		return nil, err
	}
	existed, err := s.fork(ctx, c, in.Run, f, request)
	if err != nil {
		return nil, access.StartError(err, in.Key)
	}
	return replyStarted(ctx, c, f.RunID, existed)
}

// fork starts a fork, unless an earlier request with the same content did. Nothing
// is then prepared again.
func (s *server) fork(ctx context.Context, c *access.Client, parent string, f Fork, request string) (existed bool, err error) {
	if existed, err = c.Manager.Existing(engine.Input{RunID: f.RunID, Request: request}); existed || err != nil {
		return existed, err
	}
	fork := s.Agents.Fork(f.RunID, f.At, f.Set)
	if f.OnDrift == runs.DriftLive {
		fork.OnDrift = runs.DriftLive
	}
	n, err := c.Runs.PrepareFork(ctx, parent, fork)
	if err != nil {
		return false, err
	}
	by := c.Actor().Identity()
	n.Input.By, n.Input.Request = &by, request
	return c.Manager.Start(ctx, n, "")
}
