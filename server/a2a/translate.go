package a2a

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/turn"
)

// answerID is the id of the artifact with the answer of a run.
const answerID = "answer"

// run is a run as a task.
type run struct {
	a2a.TaskInfo
	open func(*turn.Turn) []interrupt.Question // that wait for an answer
}

// task returns the state of the run. queued says that it waits for its turn.
func (r *run) task(t *turn.Turn, queued bool) *a2a.Task {
	out := &a2a.Task{ID: r.TaskID, ContextID: r.ContextID, Status: r.status(t), Metadata: metadata(t)}
	if queued && out.Status.State == a2a.TaskStateWorking {
		out.Status.State = a2a.TaskStateSubmitted
	}
	if t.Question != "" {
		m := r.message("question", a2a.MessageRoleUser, a2a.NewTextPart(t.Question))
		out.History = []*a2a.Message{m}
	}
	if a := r.artifact(t); a != nil {
		out.Artifacts = []*a2a.Artifact{a}
	}
	return out
}

// message returns a message of the task. It has the same id whenever it is read.
func (r *run) message(id string, role a2a.MessageRole, parts ...*a2a.Part) *a2a.Message {
	return &a2a.Message{ID: string(r.TaskID) + ":" + id, ContextID: r.ContextID, TaskID: r.TaskID, Role: role, Parts: parts}
}

func metadata(t *turn.Turn) map[string]any {
	if t.Status == "" {
		return nil
	}
	out := map[string]any{"status": string(t.Status), "stop_reason": string(t.Stop.Code)}
	if b, ok := jsonvalue.Decode(jsonvalue.Encode(t.Usage)).(map[string]any); ok {
		out["usage"] = b
	}
	return out
}

// status returns the status of the task.
func (r *run) status(t *turn.Turn) a2a.TaskStatus {
	s := a2a.TaskStatus{State: a2a.TaskStateWorking}
	if !t.At.IsZero() {
		at := t.At.UTC().Truncate(time.Millisecond)
		s.Timestamp = &at
	}
	switch t.Status {
	case stop.RunCompleted:
		s.State = a2a.TaskStateCompleted
	case stop.RunStopped: // at a limit
		s.State = a2a.TaskStateCompleted
		if t.Answer == "" {
			s.State = a2a.TaskStateFailed
		}
	case stop.RunFailed:
		s.State = a2a.TaskStateFailed
	case stop.RunCancelled:
		s.State = a2a.TaskStateCanceled
	case stop.RunInterrupted, "":
		if open := r.open(t); len(open) > 0 {
			s.State, s.Message = a2a.TaskStateInputRequired, r.prompt(open)
		}
		return s
	}
	if t.Status != stop.RunCompleted {
		s.Message = r.message("outcome", a2a.MessageRoleAgent, a2a.NewTextPart(t.Outcome()))
	}
	return s
}

// prompt asks for answers: a text for people, and a data part for each question.
func (r *run) prompt(open []interrupt.Question) *a2a.Message {
	parts := []*a2a.Part{a2a.NewTextPart(turn.Prompt(open))}
	for _, q := range open {
		parts = append(parts, a2a.NewDataPart(map[string]any{
			"path": q.Path, "kind": string(q.Kind), "tool": q.Tool, "args": jsonvalue.Decode(q.Args), "question": turn.About(q),
			"digest": manager.Digest(q), "answer_schema": jsonvalue.Decode(turn.AnswerSchema(q.Kind)),
		}))
	}
	return r.message("ask:"+open[len(open)-1].Path, a2a.MessageRoleAgent, parts...)
}

// artifact returns the answer of a run that has ended, or nil. One that is a JSON object or
// list is also a data part.
func (r *run) artifact(t *turn.Turn) *a2a.Artifact {
	if t.Answer == "" {
		return nil
	}
	a := &a2a.Artifact{ID: answerID, Name: answerID, Parts: a2a.ContentParts{a2a.NewTextPart(t.Answer)}}
	if first := t.Answer[0]; (first == '{' || first == '[') && json.Valid([]byte(t.Answer)) {
		a.Parts = append(a.Parts, a2a.NewDataPart(jsonvalue.Decode([]byte(t.Answer))))
	}
	return a
}

// events returns the events of a change, which are progress, the answer and the last status.
func (r *run) events(t *turn.Turn, c turn.Change) (out []a2a.Event) {
	if c.Kind == turn.Ended {
		if a := r.artifact(t); a != nil {
			out = append(out, &a2a.TaskArtifactUpdateEvent{TaskID: r.TaskID, ContextID: r.ContextID, Artifact: a, LastChunk: true})
		}
		return append(out, &a2a.TaskStatusUpdateEvent{TaskID: r.TaskID, ContextID: r.ContextID, Status: r.status(t), Metadata: metadata(t)})
	}
	line := t.Line(c)
	if line == "" || c.Kind == turn.Asked {
		return nil
	}
	s := r.status(t)
	s.State, s.Message = a2a.TaskStateWorking, r.message(fmt.Sprint("event:", c.Seq), a2a.MessageRoleAgent, a2a.NewTextPart(line))
	return []a2a.Event{&a2a.TaskStatusUpdateEvent{TaskID: r.TaskID, ContextID: r.ContextID, Status: s}}
}

// asks returns the status of a run that waits for answers.
func (r *run) asks(t *turn.Turn) a2a.Event {
	return &a2a.TaskStatusUpdateEvent{TaskID: r.TaskID, ContextID: r.ContextID, Status: r.status(t)}
}
