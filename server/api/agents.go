package api

import (
	"context"
	"net/http"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/diagram"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
)

// Agent describes an agent.
type Agent struct {
	Name        string           `json:"name" doc:"Name in paths."`
	Spec        string           `json:"spec" doc:"metadata.name of its spec."`
	Version     string           `json:"version"`
	Digest      string           `json:"digest" doc:"Digest of the resolved spec."`
	Description string           `json:"description"`
	Actions     []string         `json:"actions" doc:"What the client may do: view, run, approve, admin."`
	Parameters  jsonObject       `json:"parameters" doc:"JSON Schema of the parameters, including the question."`
	AllowSet    []string         `json:"allow_set" doc:"Keys of the spec that a request may override (set)."`
	Tools       []AgentTool      `json:"tools"`
	Models      []AgentModel     `json:"models"`
	WorstCase   costbound.Totals `json:"worst_case" doc:"Upper bounds of one run, within limits.max_tokens and limits.max_cost."`
}

// AgentTool is a tool of an agent.
type AgentTool struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Effect      string `json:"effect" doc:"read, idempotent or write; empty if each tool of a server has its own."`
	Approval    string `json:"approval" doc:"Expression that decides whether a human must approve a call; empty = never."`
}

// AgentModel is an LLM of an agent.
type AgentModel struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
}

// AgentList has the agents that the client may view.
type AgentList struct {
	Agents []Agent `json:"agents"`
}

// DiagnosticList has the diagnostics of a spec.
type DiagnosticList struct {
	Diagnostics []diag.Diagnostic `json:"diagnostics" doc:"As pexctl vet -o json, with the names of files instead of their paths."`
}

// AgentPath names the agent of a request.
type AgentPath struct {
	Agent string `path:"agent" doc:"Name of an agent."`
}

func (a *operations) addAgents() {
	of := func(id, path, summary string, responses map[int]any) describe {
		return describe{id: id, method: http.MethodGet, path: "/v1/agents" + path, tag: "agents", summary: summary, responses: responses}
	}
	add(a, of("listAgents", "", "List agents", map[int]any{200: AgentList{}}), a.server.listAgents)
	add(a, of("getAgent", "/{agent}", "Describe an agent", map[int]any{200: Agent{}}), a.server.getAgent)
	add(a, of("getAgentGraph", "/{agent}/graph.svg", "Draw the graph of an agent", map[int]any{200: mediaType("image/svg+xml")}), a.server.agentGraph)
	add(a, of("getAgentSpec", "/{agent}/spec", "Get the resolved spec of an agent", map[int]any{200: jsonObject{}}), a.server.agentSpec)
	add(a, of("getAgentDiagnostics", "/{agent}/diagnostics", "Get the warnings about the spec of an agent", map[int]any{200: DiagnosticList{}}), a.server.agentDiagnostics)
	add(a, of("getAgentSchema", "/{agent}/schema", "Get the JSON Schema of the parameters of an agent", map[int]any{200: jsonObject{}}), a.server.agentSchema)
}

func (s *server) listAgents(ctx context.Context, _ *struct{}) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	list := AgentList{Agents: []Agent{}}
	for _, a := range c.Agents().All() {
		if c.Can(auth.View, a) {
			list.Agents = append(list.Agents, agentOf(c, a))
		}
	}
	return replyJSON(http.StatusOK, list)
}

// viewed returns an agent that the client of a request may view.
func (s *server) viewed(ctx context.Context, name string) (*access.Client, *agents.Agent, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, nil, err
	}
	a, err := c.Agent(auth.View, name)
	return c, a, err
}

func (s *server) getAgent(ctx context.Context, in *AgentPath) (reply, error) {
	c, a, err := s.viewed(ctx, in.Agent)
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, agentOf(c, a))
}

func (s *server) agentGraph(ctx context.Context, in *AgentPath) (reply, error) {
	_, a, err := s.viewed(ctx, in.Agent)
	if err != nil {
		return nil, err
	}
	svg := []byte(diagram.Draw(a.Program, nil).SVG(a.Name))
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
		writeBody(w, http.StatusOK, "image/svg+xml", svg)
	}, nil
}

func (s *server) agentSpec(ctx context.Context, in *AgentPath) (reply, error) {
	_, a, err := s.viewed(ctx, in.Agent)
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, a.Program.Source)
}

func (s *server) agentDiagnostics(ctx context.Context, in *AgentPath) (reply, error) {
	_, a, err := s.viewed(ctx, in.Agent)
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, DiagnosticList{access.DiagnosticsOf(a)})
}

func (s *server) agentSchema(ctx context.Context, in *AgentPath) (reply, error) {
	_, a, err := s.viewed(ctx, in.Agent)
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, jsonObject(a.Program.ParametersSchema()))
}

func agentOf(c *access.Client, a *agents.Agent) Agent {
	p := a.Program
	out := Agent{
		Name: a.Name, Spec: p.Name, Version: p.Version, Digest: p.Digest, Description: p.Description, Actions: []string{}, AllowSet: a.AllowSet,
		Parameters: jsonObject(p.ParametersSchema()), Tools: []AgentTool{}, Models: []AgentModel{}, WorstCase: costbound.Bound(p, costbound.Options{}).Limited,
	}
	for _, do := range []string{auth.View, auth.Run, auth.Approve, auth.Admin} {
		if c.Can(do, a) {
			out.Actions = append(out.Actions, do)
		}
	}
	for i := range p.Tools {
		t := &p.Tools[i]
		out.Tools = append(out.Tools, AgentTool{t.Name, t.Type, t.Description, string(t.Effect), t.Approval.String()})
	}
	for i := range p.Models {
		m := &p.Models[i]
		out.Models = append(out.Models, AgentModel{m.Name, m.Provider, m.Params.Model})
	}
	return out
}
