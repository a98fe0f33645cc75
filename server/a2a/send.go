package a2a

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/auth"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/problem"
	"github.com/pexctl/pex/server/turn"
)

const (
	maxContextID = 200
	// sendWait is how long SendMessage waits for the end of a run. The client then polls.
	sendWait = 10 * time.Minute
)

// sent is a message that the agent has received.
type sent struct {
	run   *run
	task  *a2a.Task // when it was received
	after int       // last event before it
}

// SendMessage implements a2asrv.RequestHandler.
func (t *tasks) SendMessage(ctx context.Context, in *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	stream, err := t.client.OpenStream(ctx)
	if err != nil {
		return nil, t.fail(err)
	}
	defer stream.Release()
	s, err := t.receive(ctx, in)
	if err != nil {
		return nil, err
	}
	var history *int
	if in.Config != nil {
		history = in.Config.HistoryLength
	}
	if in.Config == nil || !in.Config.ReturnImmediately {
		if task, err := t.await(stream, s, history); task != nil || err != nil {
			return task, err
		}
	}
	task, _, err := t.read(ctx, s.run, history)
	return task, err
}

// SendStreamingMessage implements a2asrv.RequestHandler.
func (t *tasks) SendStreamingMessage(ctx context.Context, in *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	stream, err := t.client.OpenStream(ctx)
	if err != nil {
		return failed(t.fail(err))
	}
	s, err := t.receive(ctx, in)
	if err != nil {
		stream.Release()
		return failed(err)
	}
	return t.stream(stream, s.run, s.task, s.after)
}

// await waits until a run has ended, or waits for answers, and returns its task. It returns nil
// if neither happens in time.
func (t *tasks) await(stream access.Stream, s *sent, history *int) (*a2a.Task, error) {
	ctx, cancel := context.WithTimeout(stream.Context, sendWait)
	defer cancel()
	seen, err := turn.Follow(t.client, access.Stream{Context: ctx, Release: stream.Release}, string(s.run.TaskID), 0)
	if err != nil {
		return nil, t.fail(err)
	}
	var changes []turn.Change
	for state, c := range seen {
		if c.Seq > 0 {
			changes = append(changes, c)
		}
		if c.Kind == turn.Ended || s.run.waits(state, c) && lastOf(changes) > s.after {
			return t.task(s.run, state, changes, history), nil
		}
	}
	return nil, nil
}

// receive starts a run with a message, or passes the message on to one.
func (t *tasks) receive(ctx context.Context, in *a2a.SendMessageRequest) (*sent, error) {
	m := in.Message
	switch {
	case m == nil || len(m.Parts) == 0:
		return nil, t.fail(problem.New(problem.InvalidRequest, "a request needs a message with parts"))
	case m.Role != a2a.MessageRoleUser:
		return nil, t.fail(problem.New(problem.InvalidRequest, "the role of the message must be ROLE_USER (user in version 0.3)"))
	case in.Config != nil && in.Config.PushConfig != nil:
		return nil, errNoPush()
	case slices.ContainsFunc(m.Parts, func(p *a2a.Part) bool { return p.Content == a2a.Text("") }):
		return nil, t.fail(problem.New(problem.InvalidRequest, "a text part is empty"))
	case slices.ContainsFunc(m.Parts, func(p *a2a.Part) bool { return p.Text() == "" && !isData(p) }):
		return nil, a2a.NewError(a2a.ErrUnsupportedContentType, "a part must be a text or data; files are not supported")
	case len(m.ContextID) > maxContextID:
		return nil, t.fail(problem.New(problem.InvalidRequest, "contextId has more than %d characters", maxContextID))
	case m.TaskID != "":
		return t.proceed(ctx, m)
	}
	return t.start(ctx, m)
}

func isData(p *a2a.Part) bool {
	_, ok := p.Content.(a2a.Data)
	return ok
}

// textOf returns the text of a message.
func textOf(m *a2a.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if text := p.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// start starts a run. Texts are its question, data its parameters.
func (t *tasks) start(ctx context.Context, m *a2a.Message) (*sent, error) {
	if err := t.client.Permit(auth.Run, t.agent); err != nil {
		return nil, t.fail(err)
	}
	parameters := map[string]any{}
	for _, p := range m.Parts {
		of, ok := p.Data().(map[string]any)
		if isData(p) && !ok {
			return nil, t.fail(problem.New(problem.InvalidRequest, "data must be an object with parameters of the agent"))
		}
		maps.Copy(parameters, of)
	}
	info := a2a.TaskInfo{ContextID: m.ContextID}
	request := access.NewRun{Question: textOf(m), MemoryID: m.ContextID}
	if len(parameters) > 0 {
		request.Parameters = jsonvalue.Encode(parameters)
	}
	if m.ContextID == "" {
		info.ContextID = a2a.NewContextID()
		request.MemoryID = info.ContextID
	} else if m.ID != "" { // a repeated message starts one run
		request.Key = m.ContextID + "\n" + m.ID
		request.Body = jsonvalue.Encode([]any{request.Question, parameters})
	}
	start, err := t.client.Prepare(ctx, t.agent, request)
	if err == nil {
		_, err = start.Run(ctx)
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == problem.IdempotencyMismatch {
		err = problem.New(problem.IdempotencyMismatch, "message %q of this context had another content; use another messageId", m.ID)
	}
	if err != nil {
		return nil, t.fail(err)
	}
	info.TaskID = a2a.TaskID(start.RunID)
	r := newRun(info, nil)
	_, queued := t.client.Manager.Running(start.RunID)
	return &sent{run: r, task: r.task(&turn.Turn{Question: request.Question}, queued)}, nil
}

// proceed passes a message on to a run: as answers, if it waits for some.
func (t *tasks) proceed(ctx context.Context, m *a2a.Message) (*sent, error) {
	r, res, err := t.find(ctx, m.TaskID)
	switch {
	case err != nil:
		return nil, err
	case m.ContextID != "" && m.ContextID != r.ContextID:
		return nil, t.fail(problem.New(problem.InvalidRequest, "task %s belongs to the context %q", m.TaskID, r.ContextID))
	case isEnded(res):
		return nil, a2a.NewError(a2a.ErrUnsupportedOperation, "the task has ended; send a message with its contextId and without taskId")
	}
	state, changes, err := turn.Read(ctx, t.client, string(m.TaskID))
	if err != nil {
		return nil, t.fail(err)
	}
	if len(res.Interrupts) == 0 {
		err = t.steer(ctx, m)
	} else {
		err = t.answer(ctx, m, res.Interrupts)
	}
	if err != nil {
		return nil, t.fail(err)
	}
	if r, _, err = t.find(ctx, m.TaskID); err != nil { // with the decisions
		return nil, err
	}
	return &sent{run: r, task: t.task(r, state, changes, nil), after: lastOf(changes)}, nil
}

// steer sends a text to a run that executes.
func (t *tasks) steer(ctx context.Context, m *a2a.Message) error {
	text := textOf(m)
	if text == "" || slices.ContainsFunc(m.Parts, isData) {
		return problem.New(problem.InvalidRequest, "the task waits for no answer, so a message to it must be a text")
	}
	id := m.ID
	if id == "" {
		id = runs.NewMessageID()
	}
	return t.client.Message(ctx, string(m.TaskID), runs.Message{ID: id, Text: text})
}

// answer answers open questions, all those in the message or none.
func (t *tasks) answer(ctx context.Context, m *a2a.Message, open []interrupt.Question) error {
	var answers []manager.Answer
	for _, p := range m.Parts {
		a, err := answerOf(m.TaskID, p, open)
		if err != nil {
			return problem.New(problem.InvalidAnswer, "%v", err)
		}
		if slices.ContainsFunc(answers, func(other manager.Answer) bool { return other.Path == a.Path }) {
			return problem.New(problem.InvalidAnswer, "%s: duplicate answer; a question takes one answer", a.Path)
		}
		answers = append(answers, a)
	}
	for _, a := range answers {
		if err := t.client.Answer(ctx, string(m.TaskID), a); err != nil {
			return err
		}
	}
	return nil
}

// answerOf returns the answer in a part: data with the path of its question, or a text as a
// person types it.
func answerOf(task a2a.TaskID, p *a2a.Part, open []interrupt.Question) (manager.Answer, error) {
	value, answer := runs.Answer{Value: strings.TrimSpace(p.Text())}, jsonvalue.Encode(p.Data())
	digest := ""
	if data, ok := p.Data().(map[string]any); ok {
		value.Path, _ = data["path"].(string)
		digest, _ = data["digest"].(string)
	}
	assigned, err := runs.AssignPaths(string(task), open, []runs.Answer{value})
	if err != nil {
		return manager.Answer{}, err
	}
	if !isData(p) {
		answer = jsonvalue.Encode(assigned[0].Value)
	}
	i := slices.IndexFunc(open, func(q interrupt.Question) bool { return q.Path == assigned[0].Path })
	if i < 0 {
		return manager.Answer{}, errors.New("no open question at " + assigned[0].Path)
	}
	a, err := turn.ParseAnswer(open[i], answer)
	a.Digest = digest
	return a, err
}
