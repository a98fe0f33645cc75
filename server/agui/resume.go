package agui

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine"
	questions "github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/turn"
)

// resumeEntry answers an interrupt.
type resumeEntry struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"` // resolved or cancelled
	Payload     json.RawMessage `json:"payload"`
}

// interruptID identifies a question, and the last event before the client was shown it.
func interruptID(run string, seq int, path string) string {
	return run + ":" + strconv.Itoa(seq) + ":" + path
}

func parseInterruptID(id string) (run string, seq int, path string, ok bool) {
	run, rest, _ := strings.Cut(id, ":")
	number, path, ok := strings.Cut(rest, ":")
	seq, err := strconv.Atoi(number)
	return run, seq, path, ok && err == nil && run != "" && path != ""
}

// resumption is a run that answers continue.
type resumption struct {
	run     string
	after   int // number of the last event that the client has
	answers []manager.Answer
	paths   map[string]bool // of all questions that were answered, or that the input answers
}

// skipDecided marks the questions of the run that were answered.
func (r *resumption) skipDecided(ctx context.Context, c *access.Client) error {
	read, err := c.Read(r.run)
	if err != nil {
		return err
	}
	r.paths = map[string]bool{}
	for _, d := range c.Result(ctx, read, false).Decisions {
		r.paths[d.Path] = true
	}
	return nil
}

// resumption checks the answers of the input. It answers nothing.
func (in *input) resumption(ctx context.Context, c *access.Client, a *agents.Agent) (*resumption, error) {
	r := &resumption{paths: map[string]bool{}}
	for i, e := range in.Resume {
		at := "/resume/" + strconv.Itoa(i)
		run, seq, path, ok := parseInterruptID(e.InterruptID)
		switch {
		case !ok || r.run != "" && r.run != run:
			return nil, noInterrupt(e.InterruptID).At(at)
		case r.paths[path]:
			return nil, problem.New(problem.InvalidRequest, "interrupt %q is answered twice", e.InterruptID).At(at)
		case e.Status != "resolved" && e.Status != "cancelled":
			return nil, problem.New(problem.InvalidRequest, "status must be resolved or cancelled").At(at + "/status")
		}
		r.run, r.after, r.paths[path] = run, max(r.after, seq), true
	}
	read, err := c.Read(r.run)
	if err != nil || read.Start.Input.Agent != a.Name || read.Start.Input.MemoryID != in.ThreadID {
		if err == nil || errors.As(err, new(*runs.NotFoundError)) {
			err = noInterrupt(in.Resume[0].InterruptID).At("/resume/0")
		}
		return nil, err
	}
	if err := c.CheckRun(auth.Approve, r.run); err != nil {
		return nil, err
	}
	asked, err := r.asked(ctx, c)
	if err != nil {
		return nil, err
	}
	res := c.Result(ctx, read, false)
	err = r.match(in.Resume, asked, res)
	for _, d := range res.Decisions {
		r.paths[d.Path] = true
	}
	return r, err
}

func noInterrupt(id string) *problem.Problem {
	return problem.New(problem.NotFound, "no interrupt %q in this thread", id)
}

// asked returns the questions that the client was shown, by path.
func (r *resumption) asked(ctx context.Context, c *access.Client) (map[string]questions.Question, error) {
	_, changes, err := turn.Read(ctx, c, r.run)
	asked := map[string]questions.Question{}
	for _, change := range changes {
		if change.Kind == turn.Asked && change.Seq <= r.after {
			asked[change.Question.Path] = *change.Question
		}
	}
	return asked, err
}

// match matches the entries with the questions. Those that were answered before, in the
// same way, need no answer.
func (r *resumption) match(entries []resumeEntry, asked map[string]questions.Question, res *engine.Result) error {
	for _, q := range res.Interrupts {
		if _, isShown := asked[q.Path]; isShown && !r.paths[q.Path] {
			return problem.New(problem.InvalidRequest, "resume must answer all open interrupts; %q is missing", interruptID(r.run, r.after, q.Path)).At("/resume")
		}
	}
	for i, e := range entries {
		_, _, path, _ := parseInterruptID(e.InterruptID)
		at := "/resume/" + strconv.Itoa(i)
		q, ok := asked[path]
		if !ok {
			return noInterrupt(e.InterruptID).At(at)
		}
		answer := turn.Dismiss(q)
		if e.Status == "resolved" {
			var err error
			if answer, err = turn.ParseAnswer(q, e.Payload); err != nil {
				return problem.New(problem.InvalidAnswer, "%v", err).At(at + "/payload")
			}
		}
		d := slices.IndexFunc(res.Decisions, func(d engine.DecisionRecord) bool { return d.Path == path })
		switch {
		case d < 0 && slices.ContainsFunc(res.Interrupts, func(open questions.Question) bool { return open.Path == path }):
			r.answers = append(r.answers, answer)
		case d < 0:
			return problem.New(problem.NoOpenQuestion, "interrupt %q is not open: run %s has ended", e.InterruptID, r.run).At(at)
		case turn.Decides(q, answer) != res.Decisions[d].Do:
			return problem.New(problem.AlreadyDecided, "interrupt %q was already decided: %s", e.InterruptID, res.Decisions[d].Do).At(at)
		}
	}
	return nil
}
