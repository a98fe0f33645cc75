package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/access"
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
	c, err := s.Client(ctx)
	if err != nil {
		return nil, err
	}
	a, err := c.Agent(auth.Run, in.Agent)
	if err != nil {
		return nil, err
	}
	wait, err := waitOf(in.Prefer)
	if err != nil {
		return nil, err
	}
	request, err := newRun(in)
	if err != nil {
		return nil, err
	}
	request.Unwatched = wait > 0 && !wantsFeed(in.Accept)
	start, err := c.Prepare(ctx, a, request)
	if err != nil {
		return nil, err
	}
	if wantsFeed(in.Accept) {
		return s.startFeed(ctx, c, start)
	}
	if wait > 0 {
		return s.startAndWait(ctx, c, a.Name, start, wait)
	}
	existed, err := start.Run(ctx)
	if err != nil {
		return nil, err
	}
	return replyStarted(ctx, c, start.RunID, existed)
}

// startAndWait starts a run and responds with its result, if there is one in time. If no
// further request may wait, it starts nothing.
func (s *server) startAndWait(ctx context.Context, c *access.Client, agent string, start *access.Start, most time.Duration) (reply, error) {
	stream, err := c.OpenStream(ctx)
	if err != nil {
		return nil, err
	}
	defer stream.Release()
	existed, err := start.Run(ctx)
	if err != nil {
		return nil, err
	}
	res, err := c.Await(stream.Context, start.RunID, most)
	if err != nil {
		return nil, err
	}
	if res != nil {
		respond, err := replyResult(res, agent)
		return at(start.RunID, respond), err
	}
	return replyStarted(ctx, c, start.RunID, existed)
}

// startFeed starts a run and responds with its events. If no further feed may be open, it
// starts nothing.
func (s *server) startFeed(ctx context.Context, c *access.Client, start *access.Start) (reply, error) {
	stream, err := c.OpenStream(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := start.Run(ctx); err != nil {
		stream.Release()
		return nil, err
	}
	return s.feed(c, stream, start.RunID, feed.Cursor{}, true, locationOf(start.RunID)), nil
}

// replyStarted responds with a run that the request started, or an earlier one.
func replyStarted(ctx context.Context, c *access.Client, id string, existed bool) (reply, error) {
	if existed {
		return replyAt(http.StatusOK, id, RunRef{id, c.Status(ctx, id)})
	}
	status := runs.Running
	if _, queued := c.Manager.Running(id); queued {
		status = manager.Queued
	}
	return replyAt(http.StatusCreated, id, RunRef{id, status})
}

// newRun returns the run that a request asks for.
func newRun(in *createRequest) (access.NewRun, error) {
	b := in.Body
	question, earlier, err := opening(b)
	if err != nil {
		return access.NewRun{}, err
	}
	r := access.NewRun{
		RunID: b.RunID, Key: in.Key, Question: question, Parameters: b.Parameters, MemoryID: b.MemoryID, ExecutorMemoryID: b.ExecutorMemoryID,
		Earlier: earlier, Set: b.Set, Labels: b.Labels, Body: jsonvalue.Encode(b),
	}
	for _, f := range b.Files {
		r.Files = append(r.Files, agents.File(f))
	}
	return r, nil
}

// RunFile is a file that a run is given.
type RunFile struct {
	Name     string `json:"name" minLength:"1" maxLength:"255" doc:"Name in prompts, with which file tools open it, such as reports/may.csv."`
	Artifact string `json:"artifact" minLength:"1" doc:"SHA-256 of an uploaded artifact."`
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
