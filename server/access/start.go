package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
)

// NewRun is a request for a run.
type NewRun struct {
	RunID string // "" = derived from Key, or a new one
	// Key makes requests repeatable: those with the same key start one run. "" = none.
	Key              string
	Question         string
	Parameters       []byte // JSON object; nil = none
	MemoryID         string
	ExecutorMemoryID string
	Earlier          []memory.Interaction
	EarlierOnly      bool // see engine.Input
	Set              []string
	Files            []agents.File
	Labels           map[string]string
	// Body is what makes the request the same as another one with its RunID or Key: any JSON.
	Body      []byte
	Unwatched bool // the client does not watch the run
}

// Start is a run that can be started.
type Start struct {
	RunID   string
	client  *Client
	agent   *agents.Agent
	request agents.Request
	key     string
	options manager.StartOptions
}

// Prepare checks a request for a run of an agent. It starts nothing.
func (c *Client) Prepare(ctx context.Context, a *agents.Agent, r NewRun) (*Start, error) {
	if bad := c.checkSet(r.Set, a.AllowSet); bad != nil {
		return nil, bad
	}
	if bad := invalidFile(r.Files); bad != nil {
		return nil, bad
	}
	if bad := invalidLabel(r.Labels); bad != nil {
		return nil, bad
	}
	id, err := c.newID(r.RunID, r.Key, a.Name)
	if err != nil {
		return nil, err
	}
	for _, memory := range []string{r.MemoryID, r.ExecutorMemoryID} {
		if err := c.checkConversation(ctx, memory); err != nil {
			return nil, err
		}
	}
	return &Start{
		RunID: id, client: c, agent: a, key: r.Key,
		options: manager.StartOptions{Busy: manager.OnBusy(a.OnBusy), NewID: r.RunID == "" && r.Key == "", Unwatched: r.Unwatched},
		request: agents.Request{
			RunID: id, Question: r.Question, Parameters: r.Parameters, MemoryID: r.MemoryID, ExecutorMemoryID: r.ExecutorMemoryID,
			Earlier: r.Earlier, EarlierOnly: r.EarlierOnly, Set: r.Set, Files: r.Files, Labels: r.Labels, By: c.Actor(), Digest: requestDigest(a.Name, r.Body), Tenant: c.Owner, Home: c.Home, Trace: tracecontext.From(ctx),
		},
	}, nil
}

// Run starts the run, unless an earlier request with the same content did. It then exists
// even if the agent has changed and would reject the request.
func (s *Start) Run(ctx context.Context) (existed bool, err error) {
	existed, err = s.run(ctx)
	return existed, startError(err, s.key)
}

func (s *Start) run(ctx context.Context) (existed bool, err error) {
	c, r := s.client, s.request
	if !s.options.NewID {
		if existed, err = c.Manager.Existing(engine.Input{RunID: r.RunID, Request: r.Digest}); existed || err != nil {
			return existed, err
		}
	}
	if err = c.useFiles(r.Files); err != nil {
		return false, err
	}
	prepared, err := s.agent.Prepare(r)
	if err != nil {
		return false, err
	}
	return c.Manager.StartWith(ctx, prepared, s.options)
}

// requestDigest identifies the content of a request, whatever the order of its keys. of is
// what the request is for.
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
		p = p.At(problem.Pointer("labels", bad.Key))
	}
	return p
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
