package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

// RunPath names the run of a request.
type RunPath struct {
	Run string `path:"run" doc:"Id of a run."`
}

func (a *operations) addRuns() {
	s := a.server
	a.addCreate()
	add(a, describe{
		id: "listRuns", method: http.MethodGet, path: "/v1/runs", tag: "runs", summary: "List runs, latest first",
		responses: map[int]any{200: RunList{}}, problems: []int{404, 422},
	}, s.listRuns)
	add(a, describe{
		id: "getRun", method: http.MethodGet, path: "/v1/runs/{run}", tag: "runs", summary: "Get the result of a run",
		text:      "The same JSON as pexctl runs show RUN -o json, with links. A run that executes has status running, and one that waits for its turn queued.",
		responses: map[int]any{200: RunResult{}}, problems: []int{404},
	}, s.getRun)
	add(a, describe{
		id: "deleteRun", method: http.MethodDelete, path: "/v1/runs/{run}", tag: "runs", summary: "Delete a run",
		responses: map[int]any{204: nil}, problems: []int{403, 404, 409},
	}, s.deleteRun)
	a.addEvents()
	a.addDetail()
}

type getRunRequest struct {
	RunPath
	Include string `query:"include" enum:"conversation" doc:"conversation: include every message to and from models."`
}

func (s *server) getRun(ctx context.Context, in *getRunRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.Read(in.Run)
	if err != nil {
		return nil, err
	}
	return replyResult(c.Result(ctx, r, in.Include == "conversation"), c.AgentOf(access.Owner{Agent: r.Start.Input.Agent, Spec: r.Start.Name}))
}

type deleteRequest struct {
	RunPath
	Force bool `query:"force" doc:"Also delete a run that waits, can be resumed, or cannot be read."`
}

func (s *server) deleteRun(ctx context.Context, in *deleteRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	if err := deletable(c, in.Run); err != nil {
		return nil, err
	}
	err = c.Manager.Remove(ctx, in.Run, in.Force)
	if errors.As(err, new(*manager.RunningError)) {
		err = problem.New(problem.Running, "run %s is running; cancel it first", in.Run)
	}
	if err != nil {
		return nil, err
	}
	return replyEmpty(http.StatusNoContent), nil
}

// deletable returns an error if the client may not delete a run. A damaged run belongs to
// no agent.
func deletable(c *access.Client, id string) error {
	err := c.CheckRun(auth.Admin, id)
	if p := access.OfStore(err); p != nil && p.Code == problem.StoreCorrupt {
		return c.Permit(auth.Admin, nil)
	}
	return err
}

type listRequest struct {
	Agent    string   `query:"agent" doc:"Only runs of this agent."`
	Status   string   `query:"status" doc:"Only runs with this status or stop reason."`
	Waiting  bool     `query:"waiting" doc:"Only runs that wait for an answer."`
	MemoryID string   `query:"memory_id" doc:"Only runs of this conversation."`
	Label    []string `query:"label,explode" maxItems:"32" doc:"Only runs with this label, as KEY=VALUE; repeat it for several."`
	Q        string   `query:"q" maxLength:"200" doc:"Only runs whose question contains this text, ignoring case."`
	Prefix   string   `query:"prefix" maxLength:"64" doc:"Only runs whose id starts with this text."`
	Since    string   `query:"since" doc:"Only runs that started at this time or later (RFC 3339)."`
	Until    string   `query:"until" doc:"Only runs that started before this time (RFC 3339)."`
	Limit    int      `query:"limit" default:"50" minimum:"1" maximum:"500" doc:"Maximum number of runs."`
	Cursor   string   `query:"cursor" doc:"Where the page starts: next of the previous page."`
}

// RunList is a page of runs.
type RunList struct {
	Runs []runs.Summary `json:"runs" doc:"As pexctl runs ls -o json."`
	Next string         `json:"next,omitempty" doc:"The cursor of the next page; missing on the last page."`
}

func (s *server) listRuns(ctx context.Context, in *listRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	f, err := s.filter(c, in)
	if err != nil {
		return nil, err
	}
	found, more, err := c.List(ctx, f, in.Agent, in.Status)
	if err != nil {
		return nil, err
	}
	list := RunList{Runs: found}
	if more > 0 && len(found) > 0 {
		list.Next = found[len(found)-1].Position().String()
	}
	return replyJSON(http.StatusOK, list)
}

// filter returns the filter of a request.
func (s *server) filter(c *access.Client, in *listRequest) (f runs.Filter, err error) {
	f = runs.Filter{Limit: in.Limit, MemoryID: in.MemoryID, Waiting: in.Waiting, Prefix: in.Prefix, Question: in.Q}
	if in.Status != "" && in.Status != string(manager.Queued) && !runs.IsStatus(in.Status) {
		return f, problem.New(problem.InvalidRequest, "query parameter status: unknown status %q; use queued, %s, or a stop reason", in.Status, strings.Join(runs.Statuses(), ", "))
	}
	if f.Labels, err = engine.ParseLabels(in.Label); err != nil {
		return f, problem.New(problem.InvalidRequest, "query parameter label: %v", err)
	}
	if f.Since, err = timeOf("since", in.Since); err != nil {
		return f, err
	}
	if f.Until, err = timeOf("until", in.Until); err != nil {
		return f, err
	}
	if in.Agent != "" {
		if _, err := c.Agent(auth.View, in.Agent); err != nil {
			return f, err
		}
	}
	if f.After, err = runs.ParsePosition(in.Cursor); err != nil {
		err = problem.New(problem.InvalidCursor, "query parameter cursor: %v; use next of the previous page", err)
	}
	return f, err
}

// timeOf parses a time in a query; the zero time if there is none.
func timeOf(name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return t, problem.New(problem.InvalidRequest, "query parameter %s: invalid time %q; use RFC 3339, such as 2026-01-02T15:04:05Z", name, value)
	}
	return t, nil
}
