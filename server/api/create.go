package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

// NewRun is the request for a run.
type NewRun struct {
	Question         string            `json:"question,omitempty" doc:"The question; or give it in parameters."`
	Parameters       jsonObject        `json:"parameters,omitempty" doc:"Parameters of the agent; see /v1/agents/{agent}/schema."`
	MemoryID         string            `json:"memory_id,omitempty" maxLength:"200" doc:"Conversation that the run continues; empty = a new one."`
	ExecutorMemoryID string            `json:"executor_memory_id,omitempty" maxLength:"200" doc:"Conversation of the executor that the run continues."`
	Earlier          []Message         `json:"earlier,omitempty" doc:"The conversation before the run, oldest message first. A last message of the user is the question."`
	Set              []string          `json:"set,omitempty" maxItems:"100" doc:"Overrides of the spec for this run: limits.NAME=VALUE or llms.NAME.model=VALUE."`
	Files            []RunFile         `json:"files,omitempty" maxItems:"100" doc:"Files for the run, from uploaded artifacts: their names are added to the prompts, and file tools can open them."`
	Labels           map[string]string `json:"labels,omitempty" maxProperties:"32" doc:"For finding the run: filter the list of runs by label=KEY=VALUE. A key has up to 63 letters, digits, _, ., / and -; a value up to 200 bytes without control characters."`
	RunID            string            `json:"run_id,omitempty" maxLength:"64" pattern:"^[a-zA-Z0-9][a-zA-Z0-9_.-]*$" doc:"Id of the run; empty = generated."`
}

// Message is a message of a conversation.
type Message struct {
	Role    string `json:"role" enum:"user,assistant"`
	Content string `json:"content"`
}

// RunRef is a run that was started or changed.
type RunRef struct {
	Run    string         `json:"run_id"`
	Status stop.RunStatus `json:"status,omitempty" doc:"Missing if it is about to change."`
}

type createRequest struct {
	Agent  string `path:"agent" doc:"Name of an agent."`
	Key    string `header:"Idempotency-Key" maxLength:"255" doc:"Requests with the same key start one run."`
	Prefer string `header:"Prefer" doc:"wait=S: wait up to S seconds, at most 60, until the run ends or waits for an answer."`
	Accept string `header:"Accept" doc:"text/event-stream or application/jsonl: respond with the events of the run."`
	Body   NewRun
}

const createText = `The run executes in the background; it does not need the connection. A repeated request with the same
Idempotency-Key or run_id returns the same run. With Prefer: wait=S the response is the result of the run if it ends or waits for an
answer in time. With Accept: text/event-stream or application/jsonl it is the feed of the run.`

func (a *operations) addCreate() {
	add(a, describe{
		id: "createRun", method: http.MethodPost, path: "/v1/agents/{agent}/runs", tag: "runs", summary: "Start a run", text: createText,
		responses: map[int]any{200: RunRef{}, 201: RunRef{}}, streams: true, problems: []int{400, 403, 404, 409, 422, 503, 507},
	}, a.server.createRun)
}

func (s *server) createRun(ctx context.Context, in *createRequest) (reply, error) {
	c, err := s.caller(ctx)
	if err != nil {
		return nil, err
	}
	a, err := c.agent(auth.Run, in.Agent)
	if err != nil {
		return nil, err
	}
	wait, err := waitOf(in.Prefer)
	if err != nil {
		return nil, err
	}
	request, err := c.request(a, in)
	if err != nil {
		return nil, err
	}
	for _, id := range []string{request.MemoryID, request.ExecutorMemoryID} {
		if err := c.conversation(ctx, id); err != nil {
			return nil, err
		}
	}
	o := manager.StartOptions{Busy: manager.OnBusy(a.OnBusy), NewID: in.Body.RunID == "" && in.Key == "", Unwatched: wait > 0 && !wantsFeed(in.Accept)}
	start := func() (existed bool, err error) {
		existed, err = c.start(ctx, a, request, in.Body.Files, o)
		return existed, startError(err, in.Key)
	}
	if wantsFeed(in.Accept) {
		return c.startFeed(ctx, request.RunID, start)
	}
	if wait > 0 {
		return c.startAndWait(ctx, a.Name, request.RunID, start, wait)
	}
	existed, err := start()
	if err != nil {
		return nil, err
	}
	return c.replyStarted(ctx, request.RunID, existed)
}

// startAndWait starts a run and responds with its result, if there is one in time. If no
// further request may wait, it starts nothing.
func (c *caller) startAndWait(ctx context.Context, agent, id string, start func() (existed bool, err error), most time.Duration) (reply, error) {
	s, err := c.openStream(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release()
	existed, err := start()
	if err != nil {
		return nil, err
	}
	res, err := c.await(s.ctx, id, most)
	if err != nil {
		return nil, err
	}
	if res != nil {
		respond, err := replyResult(res, agent)
		return at(id, respond), err
	}
	return c.replyStarted(ctx, id, existed)
}

// start starts a run, unless an earlier request with the same content did. It then exists
// even if the agent has changed and would reject the request.
func (c *caller) start(ctx context.Context, a *agents.Agent, r agents.Request, files []RunFile, o manager.StartOptions) (existed bool, err error) {
	if !o.NewID {
		if existed, err = c.Manager.Existing(engine.Input{RunID: r.RunID, Request: r.Digest}); existed || err != nil {
			return existed, err
		}
	}
	if r.Files, err = c.files(files); err != nil {
		return false, err
	}
	prepared, err := a.Prepare(r)
	if err != nil {
		return false, err
	}
	return c.Manager.StartWith(ctx, prepared, o)
}

// startFeed starts a run and responds with its events. If no further feed may be open, it
// starts nothing.
func (c *caller) startFeed(ctx context.Context, id string, start func() (existed bool, err error)) (reply, error) {
	s, err := c.openStream(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := start(); err != nil {
		s.release()
		return nil, err
	}
	return c.feed(s, id, feed.Cursor{}, true, locationOf(id)), nil
}

// replyStarted responds with a run that the request started, or an earlier one.
func (c *caller) replyStarted(ctx context.Context, id string, existed bool) (reply, error) {
	if existed {
		return replyAt(http.StatusOK, id, RunRef{id, c.statusOf(ctx, id)})
	}
	status := runs.Running
	if _, queued := c.Manager.Running(id); queued {
		status = manager.Queued
	}
	return replyAt(http.StatusCreated, id, RunRef{id, status})
}

// request returns the request for a run of an agent.
func (c *caller) request(a *agents.Agent, in *createRequest) (agents.Request, error) {
	b := in.Body
	if bad := forbiddenSet(b.Set, a.AllowSet); bad != nil {
		return agents.Request{}, bad
	}
	if bad := invalidFile(b.Files); bad != nil {
		return agents.Request{}, bad
	}
	if bad := invalidLabel(b.Labels); bad != nil {
		return agents.Request{}, bad
	}
	question, earlier, err := opening(b)
	if err != nil {
		return agents.Request{}, err
	}
	id, err := c.newID(b.RunID, in.Key, in.Agent)
	if err != nil {
		return agents.Request{}, err
	}
	return agents.Request{
		RunID: id, Question: question, Parameters: b.Parameters, MemoryID: b.MemoryID, ExecutorMemoryID: b.ExecutorMemoryID,
		Earlier: earlier, Set: b.Set, Labels: b.Labels, By: c.actor(), Digest: requestDigest(in.Agent, jsonvalue.Encode(b)), Tenant: c.Owner, Home: c.Home,
	}, nil
}

// requestDigest identifies the content of a request, whatever the order of its keys.
func requestDigest(of string, body []byte) string {
	canonical := jsonvalue.Encode(jsonvalue.Decode(body))
	sum := sha256.Sum256([]byte(of + "\x00" + string(canonical)))
	return hex.EncodeToString(sum[:16])
}

// invalidLabel returns the problem of a label that a run cannot have.
func invalidLabel(labels map[string]string) *problem.Problem {
	err := engine.CheckLabels(labels)
	if err == nil {
		return nil
	}
	p := problem.New(problem.InvalidRequest, "%v", err).At("/labels")
	if bad, ok := errors.AsType[*engine.LabelError](err); ok && bad.Key != "" {
		p = p.At("/labels/" + escapePointer(bad.Key))
	}
	return p
}

// opening returns the question of a run and the conversation before it.
func opening(b NewRun) (question string, earlier []memory.Interaction, err error) {
	if len(b.Earlier) == 0 {
		return b.Question, nil, nil
	}
	earlier, last, err := dsl.Messages(jsonvalue.Encode(b.Earlier))
	switch {
	case err != nil:
		return "", nil, problem.New(problem.InvalidRequest, "%v", err).At("/earlier")
	case last == "":
		return b.Question, earlier, nil
	case b.Question != "":
		return "", nil, problem.New(problem.InvalidRequest, "two questions: the last message of earlier is the user's, and question is set; remove one").At("/earlier")
	}
	return last, earlier, nil
}

// startError returns the error of a run that was not started; nil = it was.
func startError(err error, key string) error {
	e, ok := errors.AsType[*manager.MismatchError](err)
	switch {
	case !ok:
		return err
	case key != "":
		return problem.New(problem.IdempotencyMismatch, "another request with this Idempotency-Key started run %s; use another key", e.Run)
	}
	return problem.New(problem.RunExists, "%v; use another run_id", e).At("/run_id")
}

// invalidParameters returns the problem of parameters that an agent does not accept.
func invalidParameters(err error) *problem.Problem {
	var all []string
	pointer := ""
	for _, e := range inputErrors(err) {
		all = append(all, e.Message)
		if pointer == "" && e.Name != "" {
			pointer = "/parameters/" + escapePointer(e.Name)
		}
	}
	if len(all) == 0 {
		return problem.New(problem.InvalidParameters, "%v", err).At("/parameters")
	}
	return problem.New(problem.InvalidParameters, "%s", strings.Join(all, "; ")).At(pointer)
}

// inputErrors returns the mistakes that an error joins.
func inputErrors(err error) (out []*dsl.InputError) {
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		for _, each := range joined.Unwrap() {
			if e, ok := errors.AsType[*dsl.InputError](each); ok {
				out = append(out, e)
			}
		}
	}
	return out
}

const maxWait = 60 * time.Second

// waitOf returns how long a client prefers to wait.
func waitOf(prefer string) (time.Duration, error) {
	for preference := range strings.SplitSeq(prefer, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(preference), "=")
		if !strings.EqualFold(name, "wait") {
			continue
		}
		n, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 16)
		if err != nil {
			return 0, problem.New(problem.InvalidRequest, "header Prefer: wait=%.20s: use a number of seconds, at most 60", value)
		}
		return min(time.Duration(n)*time.Second, maxWait), nil
	}
	return 0, nil
}

// await waits until a run has ended or waits for an answer, and returns its result, or nil if
// neither happens in time.
func (c *caller) await(ctx context.Context, id string, most time.Duration) (*engine.Result, error) {
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	res, ok := c.Manager.AwaitResult(within, id)
	if !ok || res != nil {
		return res, nil
	}
	r, err := c.Runs.Read(id)
	if err != nil {
		return nil, err
	}
	return c.result(ctx, r, false), nil
}
