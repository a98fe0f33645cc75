package opensearch

import (
	"errors"
	"time"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/registry"
)

// protocol is the name of the API in expose of a server file.
const protocol = "opensearch"

// maxWait is how long a request waits for a run. Tasks have no limit.
const maxWait = time.Hour

func (s *service) addExecute() {
	s.handle("POST /agents/{id}/_execute", executeForm, s.execute)
	s.handle("POST /agents/{id}/_execute/stream", executeForm, s.stream)
	s.handle("GET /tasks/{id}", documentForm, getTask)
	s.handle("DELETE /tasks/{id}", documentForm, deleteTask)
	s.handle("POST /tasks/{id}/_cancel", executeForm, cancelTask)
	for _, method := range []string{"GET ", "POST "} {
		s.handle(method+"/tasks/_search", documentForm, searchTasks)
	}
}

// start prepares the run that a request asks for.
func (c *call) start() (*access.Start, *execution, error) {
	id := c.path("id")
	a, err := c.Agent(auth.Run, id)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == problem.NotFound || err == nil && !a.Exposes(protocol) {
		if why := c.registry.Broken(id); why != nil && c.Can(auth.View, nil) {
			return nil, nil, problem.New(problem.InvalidRequest, "the agent cannot run any more: %v", why)
		}
		return nil, nil, missing(registry.Agents, id)
	}
	if err != nil {
		return nil, nil, err
	}
	e, err := c.execution(a)
	if err != nil {
		return nil, nil, err
	}
	if e.variant != nil {
		if e.agent, err = c.registry.Variant(id, e.variant); err != nil {
			return nil, nil, err
		}
	}
	start, err := c.Prepare(c.ctx(), e.agent, e.run)
	return start, e, err
}

// execute starts a run, and waits for it unless the request is asynchronous.
func (s *service) execute(c *call) (any, error) {
	start, e, err := c.start()
	if err != nil {
		return nil, err
	}
	if c.r.URL.Query().Get("async") == "true" {
		if _, err := start.Run(c.ctx()); err != nil {
			return nil, err
		}
		response := object{}
		if e.run.MemoryID != "" {
			response["memory_id"], response["parent_interaction_id"] = e.run.MemoryID, runtime.InteractionID(start.RunID)
		}
		return object{"task_id": start.RunID, "status": "RUNNING", "response": response}, nil
	}
	stream, err := c.OpenStream(c.ctx())
	if err != nil {
		return nil, err
	}
	defer stream.Release()
	if _, err := start.Run(c.ctx()); err != nil {
		return nil, err
	}
	ended, err := c.Await(stream.Context, start.RunID, maxWait)
	if err != nil {
		return nil, err
	}
	if ended != nil && ended.StopReason.Code == stop.Answered && !e.tokens { // the journal need not be read
		return object{"inference_results": (&state{ended, e.agent.Program}).inference(false)}, nil
	}
	res, err := c.result(start.RunID)
	if err != nil {
		return nil, err
	}
	switch {
	case len(res.Interrupts) > 0:
	case res.Status == runs.Running || res.Status == stop.RunInterrupted:
		return nil, problem.New(problem.Unavailable, "the run continues; GET %s/tasks/%s has its result", base, start.RunID)
	case res.Status == stop.RunFailed:
		return nil, problem.New(problem.RunFailed, "%s", res.errorMessage())
	case res.Status == stop.RunCancelled:
		return nil, problem.New(problem.Ended, "%s", res.errorMessage())
	}
	return object{"inference_results": res.inference(e.tokens)}, nil
}
