package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tracecontext"
)

// callAgent runs an agent.
func (s *Server) callAgent(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	p := newProgress(ctx, req)
	defer p.stop()
	if req.Params.RequestState != "" {
		return s.resumeCall(ctx, req, p)
	}
	parameters := req.Params.Arguments
	if len(parameters) == 0 || string(parameters) == "null" { // some clients send null
		parameters = json.RawMessage("{}")
	}
	res, err := s.o.Agents.Start(tracecontext.With(ctx, callerOf(req)), req.Params.Name, parameters, s.o.Wait, p.report())
	if err != nil {
		return failure(err), nil
	}
	return s.finish(ctx, req, p, res)
}

// callerOf returns the trace of a call: that of its _meta, or of the HTTP request. The context
// is that of the session, which an earlier request began.
func callerOf(req *sdk.CallToolRequest) tracecontext.Caller {
	parent, _ := req.Params.Meta[tracecontext.Header].(string)
	state, _ := req.Params.Meta[tracecontext.StateHeader].(string)
	c := tracecontext.ParseCaller(parent, state)
	if c.Parent == "" && req.Extra != nil {
		c = tracecontext.FromHeader(req.Extra.Header)
	}
	return c
}

// finish returns the result of a call once its run has ended or takes too long. It asks the user
// of the client what the run asks.
func (s *Server) finish(ctx context.Context, req *sdk.CallToolRequest, p *progress, res *engine.Result) (*sdk.CallToolResult, error) {
	for len(res.Interrupts) > 0 && canElicit(req.Session) && s.o.Runs.CanAnswer(ctx, res.RunID) {
		if isSessionless(req.Session) {
			return inputRequired(res)
		}
		q := res.Interrupts[0]
		form, err := s.elicit(ctx, req.Session, res.RunID, &q)
		if err != nil && s.isOpen(ctx, res.RunID, q.Path) {
			break // the client cannot show it, or the server stops
		}
		answer, ok := answerOf(&q, form)
		if err == nil && !ok {
			break
		}
		if err == nil {
			res, err = s.answer(ctx, res.RunID, q, answer, p)
		} else { // someone else has answered
			res, err = s.o.Runs.Wait(ctx, res.RunID, s.o.Wait, p.report())
		}
		if err != nil {
			return failure(err), nil
		}
	}
	return s.shown(ctx, req.Params.Name, res), nil
}

// elicit asks the user of a client while a question is open.
func (s *Server) elicit(ctx context.Context, client *sdk.ServerSession, run string, q *interrupt.Question) (*sdk.ElicitResult, error) {
	open, end, err := s.o.Runs.Asking(ctx, run, q.Path)
	if err != nil {
		return nil, err
	}
	defer end()
	return client.Elicit(open, elicitation(q))
}

// isOpen reports whether a question of a run is open, as far as is known.
func (s *Server) isOpen(ctx context.Context, run, path string) bool {
	res, err := s.o.Runs.Wait(ctx, run, 0, nil)
	return err != nil || slices.ContainsFunc(res.Interrupts, func(q interrupt.Question) bool { return q.Path == path })
}

// answer answers a question and waits for the run. That someone else was faster is no error.
func (s *Server) answer(ctx context.Context, run string, q interrupt.Question, answer string, p *progress) (*engine.Result, error) {
	if err := s.o.Runs.Answer(ctx, run, q, answer); err != nil {
		if s.isOpen(ctx, run, q.Path) {
			return nil, err
		}
	}
	return s.o.Runs.Wait(ctx, run, s.o.Wait, p.report())
}

// resumeCall continues a call that returned input_required.
func (s *Server) resumeCall(ctx context.Context, req *sdk.CallToolRequest, p *progress) (*sdk.CallToolResult, error) {
	state, ok := parseState(req.Params.RequestState)
	if !ok {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "invalid requestState: send that of the result"}
	}
	res, err := s.o.Runs.Wait(ctx, state.Run, 0, nil)
	if err != nil {
		return failure(err), nil
	}
	isAnswered := false
	for _, q := range res.Interrupts {
		form, ok := req.Params.InputResponses[q.Path].(*sdk.ElicitResult)
		if !ok || state.Asked[q.Path] != digest(&q) {
			continue
		}
		answer, ok := answerOf(&q, form)
		if !ok {
			continue
		}
		isAnswered = true
		if _, err = s.answer(ctx, state.Run, q, answer, p); err != nil {
			return failure(err), nil
		}
	}
	if len(res.Interrupts) > 0 && !isAnswered { // the user made no decision
		return s.shown(ctx, req.Params.Name, res), nil
	}
	if res, err = s.o.Runs.Wait(ctx, state.Run, s.o.Wait, p.report()); err != nil {
		return failure(err), nil
	}
	return s.finish(ctx, req, p, res)
}

// shown returns the state of a run as the result of a tool: that of its agent, or one for runs.
func (s *Server) shown(ctx context.Context, name string, res *engine.Result) *sdk.CallToolResult {
	if isRunTool(name) {
		return s.result(ctx, res)
	}
	return s.agentResult(ctx, name, res)
}

// agentResult returns the state of a run as the result of the call of its agent.
func (s *Server) agentResult(ctx context.Context, agent string, res *engine.Result) *sdk.CallToolResult {
	p, err := s.o.Agents.Agent(ctx, agent)
	hasSchema := err == nil && outputSchema(p) != nil
	out := s.result(ctx, res)
	switch {
	case hasSchema && isObject(res.Output):
		out.StructuredContent = res.Output
	case hasSchema: // without structured content, clients accept only errors
		out.IsError = true
	}
	if ended(res) && res.Status != stop.RunCompleted && (res.Status != stop.RunStopped || res.Response == "") {
		out.IsError, out.StructuredContent = true, nil
	}
	return out
}

// result returns the state of a run in words.
func (s *Server) result(ctx context.Context, res *engine.Result) *sdk.CallToolResult {
	said := describe(res)
	if len(res.Interrupts) > 0 {
		said = describeQuestions(res, s.o.Runs.CanAnswer(ctx, res.RunID))
	}
	return &sdk.CallToolResult{
		Meta:    sdk.Meta{"pexctl.dev/run_id": res.RunID, "pexctl.dev/status": string(res.Status)},
		Content: []sdk.Content{&sdk.TextContent{Text: said}},
	}
}

func isObject(v json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(v), []byte("{")) }

// failure is the result of a call that did nothing.
func failure(err error) *sdk.CallToolResult {
	var res sdk.CallToolResult
	res.SetError(err)
	return &res
}

func ended(res *engine.Result) bool {
	switch res.Status {
	case stop.RunCompleted, stop.RunStopped, stop.RunFailed, stop.RunCancelled:
		return true
	default:
		return false
	}
}

// The handlers of the tools for runs.

func (s *Server) getRun(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	in := struct {
		Run  string `json:"run"`
		Wait bool   `json:"wait"`
	}{Wait: true}
	if err := decode(req, &in, &in.Run); err != nil {
		return failure(err), nil
	}
	p := newProgress(ctx, req)
	defer p.stop()
	most := time.Duration(0)
	if in.Wait {
		most = s.o.Wait
	}
	return s.wait(ctx, in.Run, most, p)
}

func (s *Server) answerRun(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		Run    string `json:"run"`
		Path   string `json:"path"`
		Answer string `json:"answer"`
	}
	if err := decode(req, &in, &in.Run); err != nil {
		return failure(err), nil
	}
	if in.Answer == "" {
		return failure(errors.New("answer is required")), nil
	}
	p := newProgress(ctx, req)
	defer p.stop()
	if canElicit(req.Session) {
		return s.askUser(ctx, req, p, in.Run)
	}
	if err := s.o.Runs.Answer(ctx, in.Run, interrupt.Question{Path: in.Path}, in.Answer); err != nil {
		return failure(err), nil
	}
	return s.wait(ctx, in.Run, s.o.Wait, p)
}

// askUser asks the user of a client with forms for the answers that its model wants to give: the
// model could decide by itself.
func (s *Server) askUser(ctx context.Context, req *sdk.CallToolRequest, p *progress, run string) (*sdk.CallToolResult, error) {
	if req.Params.RequestState != "" {
		return s.resumeCall(ctx, req, p)
	}
	res, err := s.o.Runs.Wait(ctx, run, 0, nil)
	if err != nil {
		return failure(err), nil
	}
	return s.finish(ctx, req, p, res)
}

func (s *Server) cancelRun(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var in struct {
		Run string `json:"run"`
	}
	if err := decode(req, &in, &in.Run); err != nil {
		return failure(err), nil
	}
	p := newProgress(ctx, req)
	defer p.stop()
	if err := s.o.Runs.Cancel(ctx, in.Run); err != nil {
		return failure(err), nil
	}
	return s.wait(ctx, in.Run, s.o.Wait, p)
}

// wait returns the state of a run as the result of a tool for runs.
func (s *Server) wait(ctx context.Context, run string, most time.Duration, p *progress) (*sdk.CallToolResult, error) {
	res, err := s.o.Runs.Wait(ctx, run, most, p.report())
	if err != nil {
		return failure(err), nil
	}
	return s.result(ctx, res), nil
}

// decode reads the arguments of a tool for runs. run is the one that all of them need.
func decode(req *sdk.CallToolRequest, in any, run *string) error {
	if len(req.Params.Arguments) > 0 {
		if err := json.Unmarshal(req.Params.Arguments, in); err != nil {
			return fmt.Errorf("invalid arguments: %w", err)
		}
	}
	if *run == "" {
		return errors.New("run is required: the id of a run")
	}
	return nil
}

const runScheme = "run://"

// readRun returns a run as a resource.
func (s *Server) readRun(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	res, err := s.o.Runs.Wait(ctx, uri[len(runScheme):], 0, nil)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	b, err := json.MarshalIndent(res, "", "  ")
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(b)}}}, nil
}
