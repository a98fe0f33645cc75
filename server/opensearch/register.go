package opensearch

import (
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/registry"
)

// addRegistry adds the operations for connectors, models and agents.
func (s *service) addRegistry() {
	s.handle("POST /connectors/_create", executeForm, s.create(registry.Connectors, func(_ *call, id string) object { return object{"connector_id": id} }))
	s.handle("POST /models/_register", executeForm, s.create(registry.Models, func(_ *call, id string) object {
		return object{"task_id": registerTask + id, "status": "CREATED", "model_id": id}
	}))
	s.handle("POST /agents/_register", executeForm, s.create(registry.Agents, func(_ *call, id string) object { return object{"agent_id": id} }))
	for _, k := range []registry.Kind{registry.Connectors, registry.Models, registry.Agents} {
		at := "/" + string(k)
		s.handle("GET "+at+"/{id}", documentForm, s.get(k))
		s.handle("PUT "+at+"/{id}", executeForm, s.update(k))
		s.handle("DELETE "+at+"/{id}", documentForm, s.remove(k))
		for _, method := range []string{"GET ", "POST "} {
			s.handle(method+at+"/_search", documentForm, func(c *call) (any, error) {
				return c.search(".plugins-ml-"+strings.TrimSuffix(string(k), "s"), c.hits(k))
			})
		}
	}
	s.handle("GET /tools", documentForm, listTools)
	s.handle("GET /tools/{name}", documentForm, getTool)
	s.handle("POST /models/{id}/_deploy", executeForm, deploy("DEPLOY_MODEL", deployTask))
	s.handle("POST /models/{id}/_undeploy", executeForm, deploy("UNDEPLOY_MODEL", deployTask))
}

// create registers a body.
func (s *service) create(k registry.Kind, reply func(c *call, id string) object) handler {
	return func(c *call) (any, error) {
		if err := c.admin(); err != nil {
			return nil, err
		}
		if err := checkName(k, c.body); err != nil {
			return nil, err
		}
		id, notes, err := c.registry.Create(k, c.body)
		if err != nil {
			return nil, err
		}
		out := reply(c, id)
		if len(notes) > 0 {
			out["notes"] = notes
		}
		return out, nil
	}
}

// checkName checks what ML Commons requires of every body.
func checkName(k registry.Kind, body registry.Body) error {
	name, _ := body["name"].(string)
	switch n := len([]rune(name)); {
	case body == nil:
		return problem.New(problem.InvalidRequest, "Request body is required")
	case n == 0 || n > 128:
		return problem.New(problem.InvalidRequest, "%s name must have between 1 and 128 characters", strings.TrimSuffix(string(k), "s"))
	}
	return nil
}

// get responds with a document, without its credentials.
func (s *service) get(k registry.Kind) handler {
	return func(c *call) (any, error) {
		for _, h := range c.hits(k) {
			if h.id == c.path("id") {
				return h.source, nil
			}
		}
		return nil, missing(k, c.path("id"))
	}
}

func (s *service) update(k registry.Kind) handler {
	return func(c *call) (any, error) {
		if err := c.changeable(k); err != nil {
			return nil, err
		}
		if err := c.registry.Update(k, c.path("id"), c.body); err != nil {
			return nil, err
		}
		return written(k, c.path("id"), "updated"), nil
	}
}

func (s *service) remove(k registry.Kind) handler {
	return func(c *call) (any, error) {
		if err := c.changeable(k); err != nil {
			return nil, err
		}
		if err := c.registry.Delete(k, c.path("id")); err != nil {
			return nil, err
		}
		return written(k, c.path("id"), "deleted"), nil
	}
}

// changeable returns an error unless the client may change a document.
func (c *call) changeable(k registry.Kind) error {
	if err := c.admin(); err != nil {
		return err
	}
	if _, err := c.registry.Get(k, c.path("id")); err != nil {
		if _, err := c.Agent(auth.View, c.path("id")); err == nil && k == registry.Agents {
			return problem.New(problem.Forbidden, "agent %s is an agent of the server; its operator can change its spec", c.path("id"))
		}
		return err
	}
	return nil
}

// written is the response to a change.
func written(k registry.Kind, id, result string) object {
	return object{
		"_index": ".plugins-ml-" + strings.TrimSuffix(string(k), "s"), "_id": id, "_version": 1, "result": result,
		"_shards": object{"total": 1, "successful": 1, "failed": 0}, "_seq_no": 0, "_primary_term": 1,
	}
}

// hits returns the documents of a kind that the client may view. The agents of the server are
// agents, too.
func (c *call) hits(k registry.Kind) (out []hit) {
	for _, d := range c.registry.List(k) {
		if a, _ := c.Agents().Get(d.ID); !c.Can(auth.View, a) { // nil = one that cannot run, or no agent
			continue
		}
		source := maps.Clone(d.Body)
		delete(source, "credential")
		if inline, ok := source["connector"].(registry.Body); ok {
			inline = maps.Clone(inline)
			delete(inline, "credential")
			source["connector"] = inline
		}
		source["created_time"], source["last_updated_time"] = d.Created.UnixMilli(), d.Updated.UnixMilli()
		if k == registry.Models {
			source["model_state"], source["algorithm"] = "DEPLOYED", "REMOTE"
		}
		if err := c.registry.Broken(d.ID); err != nil {
			source["problem"] = err.Error()
		}
		out = append(out, hit{d.ID, source})
	}
	if k != registry.Agents {
		return out
	}
	for _, a := range c.Agents().All() {
		if _, err := c.registry.Get(k, a.Name); err != nil && a.Exposes(protocol) && c.Can(auth.View, a) {
			out = append(out, hit{a.Name, sourceOf(a)})
		}
	}
	return out
}

// sourceOf describes an agent of the server.
func sourceOf(a *agents.Agent) object {
	tools := []any{}
	for i := range a.Program.Tools {
		tools = append(tools, object{"name": a.Program.Tools[i].Name, "type": a.Program.Tools[i].Type})
	}
	source := object{"name": a.Name, "type": "plan_execute_and_reflect", "description": a.Program.Description, "tools": tools}
	if len(a.Program.Models) > 0 {
		source["llm"] = object{"model_id": a.Program.Models[0].Name}
	}
	if a.Program.Memory.Backend != "none" {
		source["memory"] = object{"type": "conversation_index"}
	}
	return source
}

// deploy responds as if a model was deployed: remote models need no deployment.
func deploy(typ, task string) handler {
	return func(c *call) (any, error) {
		if err := c.admin(); err != nil {
			return nil, err
		}
		if _, err := c.registry.Get(registry.Models, c.path("id")); err != nil {
			return nil, err
		}
		return object{"task_id": task + c.path("id"), "task_type": typ, "status": "COMPLETED"}, nil
	}
}

// tools returns the tools of the agents that the client may view, sorted by name.
func tools(c *call) (out []object) {
	seen := map[string]bool{}
	for _, a := range c.Agents().All() {
		if !a.Exposes(protocol) || !c.Can(auth.View, a) {
			continue
		}
		for i := range a.Program.Tools {
			if t := &a.Program.Tools[i]; !seen[t.Name] {
				seen[t.Name] = true
				out = append(out, object{"name": t.Name, "description": t.Description, "type": t.Type})
			}
		}
	}
	slices.SortFunc(out, func(a, b object) int { return strings.Compare(a["name"].(string), b["name"].(string)) })
	return out
}

func listTools(c *call) (any, error) { return append([]object{}, tools(c)...), nil }

func getTool(c *call) (any, error) {
	for _, t := range tools(c) {
		if t["name"] == c.path("name") {
			return t, nil
		}
	}
	return nil, problem.New(problem.NotFound, "no agent has the tool %q", c.path("name"))
}
