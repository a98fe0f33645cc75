package api

import (
	"bytes"
	"context"
	"net/http"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/textdiff"
	"github.com/pexctl/pex/server/problem"
)

// addDetail adds the operations that show the content of runs.
func (a *operations) addDetail() {
	s := a.server
	add(a, describe{
		id: "getCall", method: http.MethodGet, path: "/v1/runs/{run}/calls/{call...}", tag: "runs", summary: "Get a call of a run",
		text:      "Messages, tools, parameters, reply and usage of a model call; arguments and result of a tool call; question and decision.",
		responses: map[int]any{200: runview.Call{}}, problems: []int{404},
	}, s.getCall)
	add(a, describe{
		id: "exportRun", method: http.MethodGet, path: "/v1/runs/{run}/journal", tag: "runs", summary: "Export the journal of a run",
		text:      "JSON Lines, as pexctl runs export. Secrets are redacted; if anything else looks like a secret, the run is not exported.",
		responses: map[int]any{200: mediaType("application/jsonl")}, problems: []int{404, 409},
	}, s.exportRun)
	add(a, describe{
		id: "diffRuns", method: http.MethodGet, path: "/v1/runs/{run}/diff/{other}", tag: "runs", summary: "Compare two runs",
		text:      "The same JSON as pexctl runs diff RUN OTHER -o json.",
		responses: map[int]any{200: runs.Comparison{}}, problems: []int{404},
	}, s.diffRuns)
}

type callRequest struct {
	RunPath
	Call string `path:"call" doc:"Path of the call, such as step.s1/turn.1/model; slashes are not escaped."`
}

func (s *server) getCall(ctx context.Context, in *callRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.Read(in.Run)
	if err != nil {
		return nil, err
	}
	call, err := runview.NewCall(r.Records, in.Call)
	if err != nil {
		return nil, err
	}
	if call == nil {
		return nil, problem.New(problem.NotFound, "run %s has no call at %q", in.Run, in.Call)
	}
	return replyJSON(http.StatusOK, call)
}

type exportRequest struct{ RunPath }

func (s *server) exportRun(ctx context.Context, in *exportRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	r, err := c.Read(in.Run)
	if err != nil {
		return nil, err
	}
	if s.Export == nil {
		return nil, problem.New(problem.NotExportable, "this server does not export runs")
	}
	var b bytes.Buffer
	if err := s.Export(&b, r); err != nil {
		return nil, err
	}
	return replyBytes("application/jsonl", b.Bytes()), nil
}

type diffRequest struct {
	RunPath
	Other string `path:"other" doc:"Id of the run to compare with."`
}

func (s *server) diffRuns(ctx context.Context, in *diffRequest) (reply, error) {
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	a, err := c.Read(in.Run)
	if err != nil {
		return nil, err
	}
	b, err := c.Read(in.Other)
	if err != nil {
		return nil, err
	}
	d, err := runs.Compare(ctx, a, b, runs.Formatter{Diff: textdiff.Files, Duration: text.Duration})
	if err != nil {
		return nil, err
	}
	return replyJSON(http.StatusOK, d)
}
