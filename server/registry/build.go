package registry

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/convert/opensearch"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/server/agents"
)

// documents are documents by kind and id.
type documents = map[Kind]map[string]Document

// at returns the value at a path of members, or nil.
func at(body Body, path ...string) any {
	var v any = body
	for _, name := range path {
		m, _ := v.(Body)
		v = m[name]
	}
	return v
}

func textAt(body Body, path ...string) string {
	s, _ := at(body, path...).(string)
	return s
}

// parameters returns the parameters of an agent. Some clients send them as text.
func parameters(body Body) Body {
	switch p := body["parameters"].(type) {
	case Body:
		return p
	case string:
		var decoded Body
		if json.Unmarshal([]byte(p), &decoded) == nil {
			return decoded
		}
	}
	return nil
}

// servers returns the ids of the connectors of tool servers that an agent names.
func servers(agent Body) (ids []string) {
	list := parameters(agent)["mcp_connectors"]
	if s, ok := list.(string); ok {
		var decoded any
		if json.Unmarshal([]byte(s), &decoded) == nil {
			list = decoded
		}
	}
	all, _ := list.([]any)
	for _, each := range all {
		if m, ok := each.(Body); ok {
			ids = append(ids, textAt(m, "mcp_connector_id"))
		}
	}
	return ids
}

// uses reports the documents that an agent uses, also through others, by kind. Those that do not
// exist are included.
func uses(all documents, agent Body) map[Kind][]string {
	out := map[Kind][]string{}
	add := func(k Kind, id string) {
		if id != "" && !slices.Contains(out[k], id) {
			out[k] = append(out[k], id)
		}
	}
	bodies := []Body{agent}
	if id := textAt(parameters(agent), "executor_agent_id"); id != "" {
		add(Agents, id)
		bodies = append(bodies, all[Agents][id].Body)
	}
	for _, body := range bodies {
		model := textAt(body, "llm", "model_id")
		add(Models, model)
		add(Connectors, textAt(all[Models][model].Body, "connector_id"))
		for _, id := range servers(body) {
			add(Connectors, id)
		}
	}
	return out
}

// affected returns the agents that must be built after a change of a document.
func (r *Registry) affected(all documents, k Kind, id string) (ids []string) {
	for agent, d := range all[Agents] {
		if k == Agents && agent == id || slices.Contains(uses(all, d.Body)[k], id) {
			ids = append(ids, agent)
		}
	}
	slices.Sort(ids)
	return ids
}

// users returns an *InUseError if other documents use a document, or nil.
func users(all documents, k Kind, id string) error {
	e := &InUseError{Kind: Agents}
	for agent, d := range all[Agents] {
		if agent != id && slices.Contains(uses(all, d.Body)[k], id) {
			e.By = append(e.By, agent)
		}
	}
	if len(e.By) == 0 && k == Connectors {
		e.Kind = Models
		for model, d := range all[Models] {
			if textAt(d.Body, "connector_id") == id {
				e.By = append(e.By, model)
			}
		}
	}
	if len(e.By) == 0 {
		return nil
	}
	slices.Sort(e.By)
	return e
}

// checkModel returns an error unless a model is a remote one.
func checkModel(all documents, model Body) error {
	if name := textAt(model, "function_name"); !strings.EqualFold(name, "remote") {
		return invalid("function_name is %q: this server runs no local models; use function_name remote with a connector, such as one to a model server on this machine", name)
	}
	_, isInline := model["connector"].(Body)
	switch id := textAt(model, "connector_id"); {
	case isInline && id != "":
		return invalid("the model has a connector and a connector_id; remove one")
	case isInline:
		return nil
	case id == "":
		return invalid("a remote model needs connector or connector_id")
	case all[Connectors][id].Body == nil:
		return &NotFoundError{Connectors, id}
	}
	return nil
}

// inputs returns the files that the converter reads: the agent, then what it uses.
func inputs(all documents, id string, agent Body) ([]convert.Input, error) {
	needs := uses(all, agent)
	out := []convert.Input{input("agent", agent)}
	for _, executor := range needs[Agents] {
		d, ok := all[Agents][executor]
		if !ok || executor == id {
			return nil, &NotFoundError{Agents, executor}
		}
		in := input("agent "+executor, d.Body)
		in.Agent = executor
		out = append(out, in)
	}
	inModels := map[string]bool{}
	for _, model := range needs[Models] {
		d, ok := all[Models][model]
		if !ok {
			return nil, &NotFoundError{Models, model}
		}
		body := maps.Clone(d.Body)
		body["model_id"] = model
		if connector := textAt(body, "connector_id"); connector != "" {
			c, ok := all[Connectors][connector]
			if !ok {
				return nil, &NotFoundError{Connectors, connector}
			}
			body["connector"] = c.Body
			delete(body, "connector_id")
			inModels[connector] = true
		}
		out = append(out, input("model "+model, body))
	}
	for _, connector := range needs[Connectors] {
		c, ok := all[Connectors][connector]
		if !ok {
			return nil, &NotFoundError{Connectors, connector}
		}
		if !inModels[connector] {
			body := maps.Clone(c.Body)
			body["connector_id"] = connector
			out = append(out, input("connector "+connector, body))
		}
	}
	return out, nil
}

func input(name string, body Body) convert.Input {
	b, _ := json.Marshal(body) // it was decoded from JSON
	return convert.Input{Name: name, Text: b}
}

// build converts and compiles an agent, with other parameters than the registered ones.
func (r *Registry) build(all documents, id string, params Body) (*agents.Agent, []string, error) {
	body := all[Agents][id].Body
	if params != nil {
		body = maps.Clone(body)
		body["parameters"] = merge(parameters(body), params)
	}
	in, err := inputs(all, id, body)
	if err != nil {
		return nil, nil, err
	}
	made, err := opensearch.Convert(in[0], in[1:]...)
	if err != nil {
		return nil, nil, invalid("%v", err)
	}
	folder, files := filepath.Join(r.dir(Agents), id), map[string][]byte{} // the folder exists in memory only
	for _, f := range made.Files {
		files[filepath.Join(folder, filepath.FromSlash(f.Path))] = f.Text
	}
	a, err := r.compile(agents.Definition{Name: id, Spec: filepath.Join(folder, "spec.yaml"), Expose: []string{"opensearch"}}, files)
	if err != nil {
		return nil, nil, readable(err, folder)
	}
	var notes []string
	for _, n := range made.Notes {
		if n.Outcome == convert.Todo {
			notes = append(notes, n.Path+": "+n.What)
		}
	}
	for _, name := range variables(a.Program.Source) {
		if os.Getenv(name) == "" {
			notes = append(notes, "the environment variable "+name+" of the server is not set")
		}
	}
	return a, notes, nil
}

// compile compiles an agent. Its tools may reach private addresses, because they reach only
// what the policy allows.
func (r *Registry) compile(d agents.Definition, files map[string][]byte) (*agents.Agent, error) {
	var private []string
	a, err := r.o.Agents.Compile(d, r.dir(Agents), files, func(p *engine.Program) (err error) {
		private, err = r.o.Policy.check(p)
		return err
	})
	if err != nil || len(private) == 0 {
		return a, err
	}
	d.Set = private
	return r.o.Agents.Compile(d, r.dir(Agents), files, func(*engine.Program) error { return nil })
}

// readable returns an error for a client: the diagnostics of a spec, without paths of the server.
func readable(err error, folder string) error {
	e, ok := errors.AsType[*agents.InvalidError](err)
	if !ok {
		return err
	}
	var all []string
	for _, d := range e.Found {
		if d.Severity != diag.Error {
			continue
		}
		line := string(d.Code) + " " + d.Message
		if d.Hint != "" {
			line += " (" + d.Hint + ")"
		}
		all = append(all, strings.ReplaceAll(line, folder, "."))
	}
	return invalid("the agent has errors: %s", strings.Join(all, "; "))
}

// Variant returns a registered agent with other parameters, for one run.
func (r *Registry) Variant(id string, params Body) (*agents.Agent, error) {
	r.mu.RLock()
	all := r.all
	r.mu.RUnlock()
	if all[Agents][id].Body == nil {
		return nil, &NotFoundError{Agents, id}
	}
	if err := check(params); err != nil {
		return nil, err
	}
	a, _, err := r.build(all, id, params)
	return a, err
}
