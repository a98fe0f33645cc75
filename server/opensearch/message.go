package opensearch

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// origin is who writes the answers of an agent.
const origin = "PlanExecuteReflect Agent"

// cutLast returns a path without its last name, if it is that one.
func cutLast(path, name string) (before string, ok bool) { return strings.CutSuffix(path, "/"+name) }

// liveMessage is the message of a run that is not in its conversation yet.
func liveMessage(sum runs.Summary) memory.Interaction {
	return memory.Interaction{ID: runtime.InteractionID(sum.Run), MemoryID: sum.MemoryID, RunID: sum.Run, Question: sum.Question, At: sum.StartedAt}
}

// messageOf returns a message, without empty members.
func messageOf(in memory.Interaction) object {
	out := object{"memory_id": in.MemoryID, "message_id": in.ID, "create_time": timeText(in.At), "updated_time": timeText(in.At), "origin": origin}
	for name, s := range map[string]string{"input": in.Question, "response": in.Answer, "parent_message_id": in.ParentID} {
		if s != "" {
			out[name] = s
		}
	}
	if in.RunID != "" {
		out["additional_info"] = object{"run_id": in.RunID}
	}
	return out
}

// findMessage returns a message and the run that it belongs to; step is the index of the step
// that it is in the conversation of an executor, or -1.
func (c *call) findMessage(id string) (in memory.Interaction, run string, step int, err error) {
	if err := c.may(auth.View); err != nil {
		return in, "", 0, err
	}
	all, err := c.Runs.Summaries(c.ctx())
	if err != nil {
		return in, "", 0, err
	}
	for _, sum := range all {
		if runtime.InteractionID(sum.Run) == id {
			return liveMessage(*sum), sum.Run, -1, nil
		}
		for i := range sum.Steps {
			if runtime.StepInteractionID(sum.Run, i) == id {
				return in, sum.Run, i, nil
			}
		}
	}
	return in, "", 0, problem.New(problem.NotFound, "Message [%s] not found", id)
}

func getMessage(c *call) (any, error) {
	in, run, step, err := c.findMessage(c.path("id"))
	if err != nil {
		return nil, err
	}
	s, err := c.result(run)
	if err != nil {
		return nil, err
	}
	in.MemoryID, in.At, in.Answer = s.MemoryID, s.StartedAt, s.Response
	if step >= 0 {
		rec := s.Steps[step]
		in = memory.Interaction{ID: c.path("id"), RunID: run, MemoryID: s.ExecutorMemoryID, At: s.StartedAt, Question: rec.Goal, Answer: cmp.Or(rec.Result, rec.Error)}
	}
	return messageOf(in), nil
}

// listTraces responds with the steps of a run and their calls of tools, or with the calls of
// one step. Those of a run in progress are the steps that have ended.
func listTraces(c *call) (any, error) {
	_, run, step, err := c.findMessage(c.path("id"))
	if err != nil {
		return nil, err
	}
	s, err := c.result(run)
	if err != nil {
		return nil, err
	}
	steps, memoryID := s.Steps, s.MemoryID
	if step >= 0 {
		steps, memoryID = steps[step:step+1], s.ExecutorMemoryID
	}
	traces := []object{}
	add := func(input, response, of, id string) {
		traces = append(traces, object{
			"memory_id": memoryID, "message_id": id, "parent_message_id": c.path("id"), "trace_number": len(traces) + 1,
			"create_time": timeText(s.StartedAt), "input": input, "response": response, "origin": of,
		})
	}
	for i := range steps {
		rec := &steps[i]
		for j, call := range rec.ToolCalls {
			add(string(call.Args), resultText(call.Result), call.Tool, fmt.Sprintf("%s.%d.%d", c.path("id"), max(step, i), j))
		}
		if step < 0 && rec.Status != plan.Skipped {
			add(rec.Goal, cmp.Or(rec.Result, rec.Error), origin, runtime.StepInteractionID(run, i))
		}
	}
	return page(c, "traces", traces)
}

func resultText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(jsonvalue.Encode(v))
}
