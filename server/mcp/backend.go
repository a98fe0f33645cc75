package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/turn"
)

// Protocol is the name of the protocol in the key expose of agents.
const Protocol = "mcp"

// Backend has the agents and runs of the client that is identified by a context. It is safe
// for concurrent use.
type Backend struct{ access *access.Server }

// New returns the Backend of a server.
func New(s *access.Server) *Backend { return &Backend{s} }

// User identifies the client of a context; "" = it is anonymous.
func User(ctx context.Context) string {
	id, ok := auth.FromContext(ctx)
	if !ok || id.Issuer == "" {
		return ""
	}
	return string(jsonvalue.Encode([]string{id.Tenant, id.Issuer, id.Subject}))
}

// Agents returns the agents that the client may run, by name.
func (b *Backend) Agents(ctx context.Context) (map[string]*engine.Program, error) {
	c, err := b.access.Client(ctx)
	if err != nil {
		return nil, b.known(ctx, err)
	}
	out := map[string]*engine.Program{}
	for _, a := range c.Agents().All() {
		if a.Exposes(Protocol) && c.Can(auth.Run, a) {
			out[a.Name] = a.Program
		}
	}
	return out, nil
}

// Agent returns an agent, or why the client cannot run it.
func (b *Backend) Agent(ctx context.Context, name string) (*engine.Program, error) {
	_, a, err := b.agent(ctx, name)
	if err != nil {
		return nil, b.known(ctx, err)
	}
	return a.Program, nil
}

func (b *Backend) agent(ctx context.Context, name string) (*access.Client, *agents.Agent, error) {
	c, err := b.access.Client(ctx)
	if err != nil {
		return nil, nil, err
	}
	a, err := c.Exposed(auth.Run, name, Protocol)
	return c, a, err
}

// Start starts a run and waits for it, as Wait does.
func (b *Backend) Start(ctx context.Context, agent string, parameters json.RawMessage, most time.Duration, report func(line string)) (*engine.Result, error) {
	res, err := b.start(ctx, agent, parameters, most, report)
	return res, b.known(ctx, err)
}

func (b *Backend) start(ctx context.Context, agent string, parameters json.RawMessage, most time.Duration, report func(line string)) (*engine.Result, error) {
	c, a, err := b.agent(ctx, agent)
	if err != nil {
		return nil, err
	}
	stream, err := c.OpenStream(ctx) // before the run starts, which the client could not see otherwise
	if err != nil {
		return nil, err
	}
	defer stream.Release()
	began := time.Now()
	start, err := c.Prepare(ctx, a, access.NewRun{Parameters: parameters, Unwatched: report == nil})
	if err != nil {
		return nil, err
	}
	if _, err = start.Run(ctx); err != nil {
		return nil, err
	}
	if report != nil {
		report("Run " + start.RunID + " of " + a.Name + " has started")
	}
	return await(c, stream, start.RunID, began, most, report)
}

// Wait returns the state of a run once it has ended or has an open question, or when most is
// over. It reports the progress of the run meanwhile, unless report is nil.
func (b *Backend) Wait(ctx context.Context, run string, most time.Duration, report func(line string)) (*engine.Result, error) {
	res, err := b.wait(ctx, run, most, report)
	return res, b.known(ctx, err)
}

func (b *Backend) wait(ctx context.Context, run string, most time.Duration, report func(line string)) (*engine.Result, error) {
	c, err := b.access.Client(ctx)
	if err != nil {
		return nil, err
	}
	if most <= 0 {
		r, err := c.Read(run)
		if err != nil {
			return nil, err
		}
		return c.Result(ctx, r, false), nil
	}
	if err := c.CheckRun(auth.View, run); err != nil {
		return nil, err
	}
	stream, err := c.OpenStream(ctx)
	if err != nil {
		return nil, err
	}
	defer stream.Release()
	return await(c, stream, run, time.Now(), most, report)
}

// await waits for a run and reports the changes from a time on.
func await(c *access.Client, s access.Stream, run string, from time.Time, most time.Duration, report func(line string)) (*engine.Result, error) {
	var reported <-chan struct{}
	watch, cancel := context.WithTimeout(s.Context, most)
	defer cancel()
	if report != nil {
		reported = follow(c, access.Stream{Context: watch, Release: func() {}}, run, from, report)
	}
	res, err := c.Await(s.Context, run, most)
	if reported != nil {
		if res == nil || len(res.Interrupts) > 0 { // its events do not end
			cancel()
		}
		<-reported
	}
	if err != nil || res != nil {
		return res, err
	}
	if err := context.Cause(s.Context); err != nil {
		return nil, err
	}
	return &engine.Result{RunID: run, Status: c.Status(s.Context, run)}, nil
}

// follow reports the changes of a run from a time on until its stream ends. The channel is
// closed then.
func follow(c *access.Client, s access.Stream, run string, from time.Time, report func(line string)) <-chan struct{} {
	done := make(chan struct{})
	changes, err := turn.Follow(c, s, run, 0)
	if err != nil { // Await reports it
		close(done)
		return done
	}
	go func() {
		defer close(done)
		for t, change := range changes {
			if line := t.Line(change); line != "" && !change.At.Before(from) {
				report(line)
			}
		}
	}()
	return done
}

// Answer answers an open question. If it has more than a path, it must be the question that
// is open. An empty path means the only open question.
func (b *Backend) Answer(ctx context.Context, run string, q interrupt.Question, answer string) error {
	return b.known(ctx, b.answer(ctx, run, q, answer))
}

func (b *Backend) answer(ctx context.Context, run string, q interrupt.Question, answer string) error {
	c, err := b.access.Client(ctx)
	if err != nil {
		return err
	}
	a := manager.Answer{Path: q.Path, Value: answer}
	if q.Kind != "" {
		a.Digest = manager.Digest(q)
	}
	if a.Path == "" {
		open, err := c.OpenQuestions(ctx, run)
		switch {
		case err != nil:
			return err
		case len(open) == 0:
			return problem.New(problem.NoOpenQuestion, "run %s has no open question", run)
		case len(open) > 1:
			return problem.New(problem.InvalidAnswer, "run %s has %d open questions; add the path of one, such as %s", run, len(open), open[0].Open.Path)
		}
		a.Path = open[0].Open.Path
	}
	return c.Answer(ctx, run, a)
}

// CanAnswer reports whether the client may answer questions of a run.
func (b *Backend) CanAnswer(ctx context.Context, run string) bool {
	c, err := b.access.Client(ctx)
	return err == nil && c.CheckRun(auth.Approve, run) == nil
}

// Asking returns a context for asking the client's user a question. It ends once the question
// is no longer open, or the server stops. The caller must call end.
func (b *Backend) Asking(ctx context.Context, run, path string) (open context.Context, end func(), err error) {
	c, err := b.access.Client(ctx)
	if err != nil {
		return nil, nil, b.known(ctx, err)
	}
	stream, err := c.OpenStream(ctx)
	if err != nil {
		return nil, nil, b.known(ctx, err)
	}
	open, cancel := context.WithCancel(stream.Context)
	go cancelOnceClosed(open, cancel, c, run, path)
	return open, func() { cancel(); stream.Release() }, nil
}

// askInterval is how often the server checks whether someone else has answered a question that
// it asks a client.
const askInterval = 2 * time.Second

// cancelOnceClosed calls cancel once a question is not open twice in a row: it is not listed
// for a moment while its run parks.
func cancelOnceClosed(ctx context.Context, cancel func(), c *access.Client, run, path string) {
	tick := time.NewTicker(askInterval)
	defer tick.Stop()
	for closed := 0; closed < 2; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		questions, err := c.OpenQuestions(ctx, run)
		closed++
		if err == nil && slices.ContainsFunc(questions, func(q manager.OpenQuestion) bool { return q.Open.Path == path }) {
			closed = 0
		}
	}
	cancel()
}

// Cancel cancels a run. A run that has ended stays as it is.
func (b *Backend) Cancel(ctx context.Context, run string) error {
	c, err := b.access.Client(ctx)
	if err != nil {
		return b.known(ctx, err)
	}
	if err = c.Cancel(ctx, run); errors.As(err, new(*runs.EndedError)) {
		return nil
	}
	return b.known(ctx, err)
}

// known returns the problem of an error, whose text is for the client.
func (b *Backend) known(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return b.access.Problem((&http.Request{Method: http.MethodPost, URL: &url.URL{Path: Path}}).WithContext(ctx), err) // for the log
}
