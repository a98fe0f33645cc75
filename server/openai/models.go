package openai

import (
	"errors"
	"net/http"
	"strings"

	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/problem"
)

// model is an agent, as the protocol lists it.
type model struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

func (h *Handler) model(id string) model { return model{id, "model", h.created, "pex"} }

func (h *Handler) listModels(w http.ResponseWriter, r *http.Request) error {
	c, err := h.client(r)
	if err != nil {
		return err
	}
	all := []model{}
	for _, a := range c.Agents().All() {
		if a.Exposes(protocol) && c.Can(auth.View, a) {
			all = append(all, h.model(a.Name))
		}
	}
	return reply(w, struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{"list", append(all, h.model(taskModel))})
}

func (h *Handler) getModel(w http.ResponseWriter, r *http.Request) error {
	c, err := h.client(r)
	if err != nil {
		return err
	}
	name := r.PathValue("model")
	if name != taskModel {
		if _, err := agentOf(c, auth.View, name); err != nil {
			return err
		}
	}
	return reply(w, h.model(name))
}

// agentOf returns the agent that a model names, NAME or NAME@VERSION, for an action.
func agentOf(c *access.Client, do, name string) (*agents.Agent, error) {
	if name == "" {
		return nil, invalid("model", "missing_required_parameter", "missing model: the name of an agent")
	}
	base, version, hasVersion := strings.Cut(name, "@")
	a, err := c.Agent(do, base)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == problem.NotFound {
		err = nil
	}
	if a == nil || !a.Exposes(protocol) || hasVersion && version != a.Program.Version {
		return nil, &apiError{status: http.StatusNotFound, param: "model", code: "model_not_found", message: "the model " + name + " does not exist; GET /v1/models lists those that do"}
	}
	return a, err
}
