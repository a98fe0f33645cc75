package api

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
)

const forkText = `Starts a run that replays another one up to a call and continues live from there. It does not change the
conversation of the other run. With dry_run, it starts nothing and replies with 200 and what the fork would do.`

func (a *operations) addFork() {
	add(a, describe{
		id: "forkRun", method: http.MethodPost, path: "/v1/runs/{run}/fork", tag: "decisions", summary: "Fork a run", text: forkText,
		responses: map[int]any{200: ForkReply{}, 201: RunRef{}}, problems: []int{403, 404, 409, 422, 503, 507},
	}, a.server.forkRun)
}

// Fork is the request for a fork.
type Fork struct {
	At      string            `json:"at,omitempty" doc:"Path of the first call to repeat, or the start of it, such as step.s2; empty = the end of the run, or the model call that failed it."`
	OnDrift string            `json:"on_drift,omitempty" enum:"fail,live" doc:"What happens if a call before at differs from the recorded one, for example because set changes the model: fail ends the run (default), live continues live from there."`
	Set     []string          `json:"set,omitempty" maxItems:"100" doc:"Overrides of the spec: limits.NAME=VALUE or llms.NAME.model=VALUE."`
	Prompts map[string]string `json:"prompts,omitempty" maxProperties:"100" doc:"New texts of prompts, by name: ROLE.FIELD or NODE.FIELD, such as planner.system_prompt, the name of an entry of prompts, or CALLER/NAME for an agent that a tool or node calls, such as tools.writer/planner.system_prompt. Needs the role admin."`
	DryRun  bool              `json:"dry_run,omitempty" doc:"Start nothing: report which calls are replayed and which are live, how requests differ, and the worst case of the live part."`
	RunID   string            `json:"run_id,omitempty" maxLength:"64" pattern:"^[a-zA-Z0-9][a-zA-Z0-9_.-]*$" doc:"Id of the new run; empty = generated."`
}

// ForkReply is the reply to a repeated request for a fork, or with dry_run what the fork would
// do.
type ForkReply struct{ _ struct{} }

// Schema implements huma.SchemaProvider.
func (ForkReply) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[RunRef](), true, ""), r.Schema(reflect.TypeFor[access.Rehearsal](), true, ""),
	}}
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
	var f Fork
	if in.Body != nil {
		f = *in.Body
	}
	fork := access.Fork{RunID: f.RunID, Key: in.Key, At: f.At, Live: f.OnDrift == runs.DriftLive, Set: f.Set, Prompts: f.Prompts, Body: jsonvalue.Encode(f)}
	if f.DryRun {
		would, err := c.RehearseFork(ctx, in.Run, fork)
		if err != nil {
			return nil, err
		}
		return replyJSON(http.StatusOK, would)
	}
	id, existed, err := c.Fork(ctx, in.Run, fork)
	if err != nil {
		return nil, err
	}
	return replyStarted(ctx, c, id, existed)
}
