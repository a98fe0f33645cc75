package opensearch

import (
	"errors"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/registry"
)

// The ids of tasks of models, which are complete at once, begin with these. Other tasks are runs.
const (
	registerTask = "register-"
	deployTask   = "deploy-"
)

// worker is the node that executes tasks.
const worker = "pex"

// taskState returns the state of the task of a run.
func taskState(status stop.RunStatus) string {
	switch status {
	case manager.Queued:
		return "CREATED"
	case stop.RunCompleted, stop.RunStopped:
		return "COMPLETED"
	case stop.RunFailed, runs.Corrupt, runs.Unreadable:
		return "FAILED"
	case stop.RunCancelled:
		return "CANCELLED"
	case stop.RunInterrupted:
	}
	return "RUNNING"
}

func taskOf(status stop.RunStatus, began time.Time, duration int64) object {
	return object{
		"task_type": "AGENT_EXECUTION", "function_name": "AGENT", "state": taskState(status), "worker_node": []string{worker}, "is_async": true,
		"create_time": began.UnixMilli(), "last_update_time": began.UnixMilli() + duration,
	}
}

func getTask(c *call) (any, error) {
	id := c.path("id")
	if task, err := c.modelTask(id); task != nil || err != nil {
		return task, err
	}
	s, err := c.result(id)
	if err != nil {
		return nil, ofTask(err, id)
	}
	response := object{"run_id": s.RunID}
	for _, id := range s.ids() {
		response[id[0]] = id[1]
	}
	task := taskOf(s.Status, s.StartedAt, s.DurationMS)
	switch task["state"] {
	case "COMPLETED":
		response["inference_results"] = s.inference(true)
	case "FAILED", "CANCELLED":
		response["error_message"], task["error"] = s.errorMessage(), s.errorMessage()
	}
	if len(s.Interrupts) > 0 {
		response["interrupts"] = s.Interrupts
	}
	task["response"] = response
	return task, nil
}

// ofTask returns an error about a run as one about its task.
func ofTask(err error, id string) error {
	p, ok := errors.AsType[*problem.Problem](err)
	if errors.As(err, new(*runs.NotFoundError)) || ok && p.Code == problem.NotFound {
		return problem.New(problem.NotFound, "Failed to find task with the provided task id: %s", id)
	}
	return err
}

// modelTask returns the task of a model, or nil if the id is that of another task.
func (c *call) modelTask(id string) (object, error) {
	typ := "REGISTER_MODEL"
	model, ok := strings.CutPrefix(id, registerTask)
	if !ok {
		typ = "DEPLOY_MODEL"
		if model, ok = strings.CutPrefix(id, deployTask); !ok {
			return nil, nil
		}
	}
	d, err := c.registry.Get(registry.Models, model)
	if err != nil || !c.Can(auth.View, nil) {
		return nil, problem.New(problem.NotFound, "Failed to find task with the provided task id: %s", id)
	}
	return object{
		"model_id": model, "task_type": typ, "function_name": "REMOTE", "state": "COMPLETED", "worker_node": []string{worker}, "is_async": false,
		"create_time": d.Created.UnixMilli(), "last_update_time": d.Created.UnixMilli(),
	}, nil
}

func cancelTask(c *call) (any, error) {
	id := c.path("id")
	if err := c.Cancel(c.ctx(), id); err != nil {
		return nil, ofTask(err, id)
	}
	return object{"task_id": id, "status": "CANCELLING"}, nil
}

func deleteTask(c *call) (any, error) {
	id := c.path("id")
	err := c.CheckRun(auth.Admin, id)
	if err == nil {
		err = c.Manager.Remove(c.ctx(), id, true)
	}
	if errors.As(err, new(*manager.RunningError)) {
		return nil, problem.New(problem.Running, "task %s is running; cancel it first", id)
	}
	if err != nil {
		return nil, ofTask(err, id)
	}
	return written("tasks", id, "deleted"), nil
}

func searchTasks(c *call) (any, error) {
	all, _, err := c.List(c.ctx(), runs.Filter{}, "", "")
	if err != nil {
		return nil, err
	}
	var hits []hit
	for _, sum := range all {
		task := taskOf(sum.Status, sum.StartedAt, sum.DurationMS)
		task["agent_id"] = c.AgentOf(access.Owner{Agent: sum.Agent, Spec: sum.Spec.Name})
		hits = append(hits, hit{sum.Run, task})
	}
	return c.search(".plugins-ml-task", hits)
}
