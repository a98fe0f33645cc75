package api

import (
	"net/http"

	"github.com/pexctl/pex/engine"
)

// RunResult is the result of a run, with links.
type RunResult struct {
	engine.Result
	Links RunLinks `json:"links"`
}

// RunLinks are the paths of what belongs to a run.
type RunLinks struct {
	Self      string `json:"self"`
	Agent     string `json:"agent,omitempty" doc:"Missing if the server has no agent for the run."`
	Events    string `json:"events"`
	Journal   string `json:"journal"`
	Artifacts string `json:"artifacts"`
}

// replyResult responds with the result of a run. agent is the name of its agent; "" = the
// server has none.
func replyResult(res *engine.Result, agent string) (reply, error) {
	self := locationOf(res.RunID)
	links := RunLinks{Self: self, Events: self + "/events", Journal: self + "/journal", Artifacts: self + "/artifacts"}
	if agent != "" {
		links.Agent = "/v1/agents/" + agent
	}
	return replyJSON(http.StatusOK, RunResult{*res, links})
}
