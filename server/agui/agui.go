package agui

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"

	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/jsonbody"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/turn"
)

// Protocol is the name of the protocol in the key expose of a server file.
const Protocol = "agui"

// Paths returns the paths of the protocol.
func Paths() []string { return []string{"/agui/"} }

// Form returns how clients expect errors before the first event: as RUN_ERROR, in JSON.
func Form() problem.Form {
	return problem.Form{
		Body: func(_ *http.Request, p *problem.Problem) (string, []byte) {
			e := event{Type: "RUN_ERROR", Code: string(p.Code), Message: p.Detail}
			if p.Pointer != "" {
				e.Message = p.Pointer + ": " + e.Message
			}
			return "application/json", append(jsonvalue.Encode(e), '\n')
		},
		Status: func(p *problem.Problem) int {
			if s := p.Status(); s != http.StatusUnprocessableEntity {
				return s
			}
			return http.StatusBadRequest
		},
	}
}

// Options configure the handler.
type Options struct {
	Access  *access.Server
	MaxBody int64 // bytes of a request body; 0 = jsonbody.MaxBody
}

// New returns the handler of Paths.
func New(o Options) http.Handler {
	s := &server{o}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /agui/{agent}", s.run)
	mux.HandleFunc("/agui/{agent}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		problem.Write(w, r, problem.New(problem.MethodNotAllowed, "send a RunAgentInput with POST"))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, problem.New(problem.NotFound, "no such path; send a RunAgentInput to /agui/AGENT"))
	})
	return mux
}

type server struct{ Options }

// run starts a run, or continues one with answers, and responds with its events.
func (s *server) run(w http.ResponseWriter, r *http.Request) {
	c, err := s.Access.Client(r.Context())
	if err != nil {
		s.Access.Fail(w, r, err)
		return
	}
	body, bad := jsonbody.Read(w, r, s.MaxBody)
	if bad != nil {
		problem.Write(w, r, bad)
		return
	}
	a, err := c.Exposed(auth.Run, r.PathValue("agent"), Protocol)
	if err != nil {
		s.Access.Fail(w, r, err)
		return
	}
	in, err := parse(body)
	if err != nil {
		s.Access.Fail(w, r, err)
		return
	}
	stream, err := c.OpenStream(r.Context())
	if err != nil {
		s.Access.Fail(w, r, err)
		return
	}
	defer stream.Release()
	items, err := s.follow(r.Context(), c, stream, a, in)
	if err != nil {
		s.Access.Fail(w, r, err)
		return
	}
	_ = feed.Write(w, r, items, feed.EventStream, feed.OnFailure(stream.Release)) // the client is gone
}

// follow performs what the input asks for, and returns the events of the protocol.
func (s *server) follow(ctx context.Context, c *access.Client, stream access.Stream, a *agents.Agent, in *input) (iter.Seq[feed.Item], error) {
	if len(in.Resume) > 0 {
		r, err := in.resumption(ctx, c, a)
		if err != nil {
			return nil, err
		}
		for _, answer := range r.answers {
			if err := c.Answer(ctx, r.run, answer); err != nil {
				return nil, err
			}
		}
		return events(c, stream, newView(in, r))
	}
	request, err := in.newRun(a)
	if err != nil {
		return nil, err
	}
	start, err := c.Prepare(ctx, a, request)
	if err != nil {
		return nil, err
	}
	run, err := s.waiting(ctx, c, a, in)
	if err != nil {
		return nil, err
	}
	existed := run != ""
	if !existed {
		run = in.RunID
		existed, err = start.Run(ctx)
		if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == problem.RunExists {
			err = problem.New(problem.RunExists, "run %s was started by other input; use another runId", run).At("/runId")
		}
		if err != nil {
			return nil, err
		}
	}
	r := &resumption{run: run}
	if existed {
		if err := r.skipDecided(ctx, c); err != nil {
			return nil, err
		}
	}
	return events(c, stream, newView(in, r))
}

// waiting returns a run of the thread that waits for answers, or "". A front end that was
// loaded again learns so what it must resume.
func (s *server) waiting(ctx context.Context, c *access.Client, a *agents.Agent, in *input) (string, error) {
	if len(in.Messages) < 2 { // the thread is new
		return "", nil
	}
	open, err := c.Questions(ctx)
	if err != nil {
		return "", err
	}
	slices.Reverse(open)
	for _, q := range open {
		if q.Name != a.Name || q.Run == in.RunID {
			continue
		}
		if start, err := c.Runs.StartOf(q.Run); err == nil && start.Input.MemoryID == in.ThreadID {
			return q.Run, nil
		}
	}
	return "", nil
}

// events returns the events of a view.
func events(c *access.Client, stream access.Stream, v *view) (iter.Seq[feed.Item], error) {
	changes, err := turn.Follow(c, stream, v.run, v.after)
	if err != nil {
		return nil, err
	}
	return func(yield func(feed.Item) bool) {
		flush := func() bool {
			for _, item := range v.take() {
				if !yield(item) {
					return false
				}
			}
			return true
		}
		if v.start(); !flush() {
			return
		}
		for t, c := range changes {
			if done := v.change(t, c); !flush() || done {
				return
			}
		}
	}, nil
}
