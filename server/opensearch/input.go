package opensearch

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/registry"
)

// execution is what a request to execute an agent asks for.
type execution struct {
	agent   *agents.Agent
	run     access.NewRun
	variant registry.Body // parameters that change a registered agent; nil = none
	tokens  bool          // the response has the usage of tokens
}

// limits are the parameters that limit a run, and the limits of a spec that they are.
var limits = map[string]string{
	"max_steps": "max_steps", "message_history_limit": "message_history_limit", "executor_message_history_limit": "executor_message_history_limit",
	"executor_max_iterations": "executor_max_iterations",
}

// prompts are the parameters that change prompts.
var prompts = []string{
	"system_prompt", "executor_system_prompt", "planner_prompt", "reflect_prompt", "planner_prompt_template", "reflect_prompt_template",
	"planner_with_history_template", "inject_datetime", "datetime_format",
}

// execution reads the parameters of a request.
func (c *call) execution(a *agents.Agent) (*execution, error) {
	if c.body["threadId"] != nil {
		return nil, problem.New(problem.InvalidRequest, "AG-UI requests are answered at /agui/%s", a.Name)
	}
	params := object{}
	switch p := c.body["parameters"].(type) {
	case nil:
	case object:
		params = p
	default:
		return nil, problem.New(problem.InvalidRequest, "parameters must be an object").At("/parameters")
	}
	e := &execution{agent: a, run: access.NewRun{Body: c.raw}}
	if err := e.readInput(c.body["input"]); err != nil {
		return nil, err
	}
	given := map[string]any{}
	for name, v := range params {
		if err := c.parameter(e, given, name, v); err != nil {
			return nil, err
		}
	}
	if e.run.Question == "" && !hasDefaultQuestion(a.Program) {
		return nil, problem.New(problem.InvalidRequest, "the parameter question is required").At("/parameters/question")
	}
	if len(given) > 0 {
		e.run.Parameters = jsonvalue.Encode(given)
	}
	return e, c.conversation(e)
}

// parameter applies one parameter. Those that no prompt of the agent uses have no effect.
func (c *call) parameter(e *execution, given map[string]any, name string, v any) error {
	s := textOf(v)
	_, limit := limits[name]
	_, err := c.registry.Get(registry.Agents, e.agent.Name)
	isRegistered := err == nil
	switch {
	case name == "question":
		e.run.Question = s
	case name == "memory_id":
		e.run.MemoryID = s
	case name == "executor_agent_memory_id":
		e.run.ExecutorMemoryID = s
	case name == "include_token_usage":
		e.tokens = s == "true"
	case isRegistered && (limit || slices.Contains(prompts, name)):
		if e.variant == nil {
			e.variant = registry.Body{}
		}
		e.variant[name] = v
	case limit:
		set, err := limitOf(name, s)
		if err != nil {
			return err
		}
		e.run.Set = append(e.run.Set, set)
	case slices.Contains(prompts, name):
		return problem.New(problem.SetNotAllowed, "%s cannot be changed: agent %s is an agent of the server file", name, e.agent.Name).At(problem.Pointer("parameters", name))
	case slices.ContainsFunc(e.agent.Program.Parameters, func(p engine.Parameter) bool { return p.Name == name }):
		given[name] = v
	}
	return nil
}

// limitOf returns the override of a limit. ML Commons counts turns of models and of tools as
// iterations, a spec only those of models.
func limitOf(name, s string) (string, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return "", problem.New(problem.InvalidRequest, "%s must be a whole number above 0", name).At(problem.Pointer("parameters", name))
	}
	if name == "executor_max_iterations" {
		n = (n + 1) / 2
	}
	return fmt.Sprintf("limits.%s=%d", limits[name], n), nil
}

// textOf returns a value as ML Commons does, which takes every parameter as a text.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(jsonvalue.Encode(v))
}

func hasDefaultQuestion(p *engine.Program) bool {
	return slices.ContainsFunc(p.Parameters, func(q engine.Parameter) bool { return q.Name == "question" && (q.Default != nil || !q.Required) })
}

// readInput reads the form of input that is not parameters: a text, parts of a message, or
// messages.
func (e *execution) readInput(input any) error {
	var messages any
	switch in := input.(type) {
	case nil:
		return nil
	case string:
		e.run.Question = in
		return nil
	case []any:
		messages = in
		if first, ok := at(in, 0).(object); ok && first["role"] == nil {
			messages = []any{object{"role": "user", "content": in}}
		}
	default:
		return problem.New(problem.InvalidRequest, "input must be a text or a list").At("/input")
	}
	b, err := json.Marshal(messages)
	if err != nil {
		return err
	}
	if e.run.Earlier, e.run.Question, err = dsl.Messages(b); err != nil {
		return problem.New(problem.InvalidRequest, "input: %v", err).At("/input")
	}
	return nil
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// conversation gives the run a new conversation if it names none, and checks that one that it
// names exists.
func (c *call) conversation(e *execution) error {
	if e.agent.Program.Memory.Backend == "none" {
		e.run.MemoryID, e.run.ExecutorMemoryID = "", ""
		return nil
	}
	if e.run.MemoryID == "" {
		e.run.MemoryID = strings.ToLower(rand.Text()[:20])
		return nil
	}
	exists, err := c.hasConversation(e.run.MemoryID)
	if err == nil && !exists {
		err = missing(registry.Memories, e.run.MemoryID)
	}
	return err
}

// hasConversation reports whether a conversation was created, or has a run.
func (c *call) hasConversation(id string) (bool, error) {
	if _, err := c.registry.Get(registry.Memories, id); err == nil {
		return true, nil
	}
	found, _, err := c.Runs.List(c.ctx(), runs.Filter{MemoryID: id, Limit: 1})
	if err != nil || len(found) > 0 {
		return len(found) > 0, err
	}
	turns, err := c.history(id)
	return len(turns) > 0, err
}

// history returns the stored turns of a conversation.
func (c *call) history(id string) (all []memory.Interaction, err error) {
	for _, m := range c.Conversations() {
		turns, err := m.History(c.ctx(), id)
		if err != nil {
			return nil, err
		}
		all = append(all, turns...)
	}
	return all, nil
}
