package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/turn"
)

// approval is an answer to a request for an approval.
type approval struct {
	ID      string `json:"approval_request_id"`
	Approve bool   `json:"approve"`
	Reason  string `json:"reason"`
}

// parseInput returns the messages and the approvals of an input: a text or a list of items.
// Items of earlier responses are skipped: the journal has them.
func parseInput(input json.RawMessage) (messages []message, approvals []approval, err error) {
	var text string
	if len(input) > 0 && json.Unmarshal(input, &text) == nil {
		return []message{{"user", input}}, nil, nil
	}
	var items []struct {
		Type string `json:"type"`
		message
		approval
	}
	if json.Unmarshal(input, &items) != nil || len(items) == 0 {
		return nil, nil, invalid("input", "invalid_type", "input must be a text or a list of items")
	}
	for i := range items {
		switch item := &items[i]; item.Type {
		case "", "message":
			messages = append(messages, item.message)
		case "mcp_approval_response":
			approvals = append(approvals, item.approval)
		case "reasoning", "mcp_call", "mcp_list_tools", "mcp_approval_request":
		default:
			return nil, nil, invalid(fmt.Sprintf("input[%d].type", i), unsupported, "input of type %q is not supported", item.Type)
		}
	}
	return messages, approvals, nil
}

// begin starts a run, or continues one: with approvals, or with an answer or a message to the
// run of the previous response or of the conversation.
func (q *responseRequest) begin(w http.ResponseWriter, r *http.Request, h *Handler, c *access.Client, a *agents.Agent) (*segment, error) {
	messages, approvals, err := parseInput(q.Input)
	if err != nil {
		return nil, err
	}
	if len(approvals) > 0 {
		return h.approve(r.Context(), c, a, approvals)
	}
	d, err := conversation(w, "input", messages)
	if err != nil {
		return nil, err
	}
	memoryID, err := conversationID(r, q.Conversation.ID)
	if err != nil {
		return nil, err
	}
	if q.Previous != "" {
		return q.continueFrom(r, h, c, a, &d)
	}
	if memoryID != "" {
		run, open, err := c.WaitingIn(r.Context(), a, memoryID)
		if err != nil {
			return nil, err
		}
		if run != "" {
			return answerStrictly(r.Context(), c, run, open, &d)
		}
	}
	return q.start(r, c, a, &d, access.NewRun{MemoryID: memoryID, Earlier: d.earlier, EarlierOnly: len(d.earlier) > 0})
}

// start starts a run in a conversation.
func (q *responseRequest) start(r *http.Request, c *access.Client, a *agents.Agent, d *dialog, in access.NewRun) (*segment, error) {
	n, err := q.newRun(r, c, d)
	if err != nil {
		return nil, err
	}
	n.MemoryID, n.Earlier, n.EarlierOnly = in.MemoryID, in.Earlier, in.EarlierOnly
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	if q.Previous != "" {
		n.Labels[previousLabel] = q.Previous
	}
	if q.Background {
		n.Labels[backgroundLabel] = "true"
	}
	return start(r.Context(), c, a, n)
}

// ofAgent returns a run that the client may view and that belongs to an agent. param names it
// in the request.
func (h *Handler) ofAgent(ctx context.Context, c *access.Client, a *agents.Agent, run, param string) (*segment, error) {
	found, err := h.exists(c, run)
	if err == nil && !found {
		return nil, &apiError{status: http.StatusNotFound, param: param, code: "not_found", message: param + ": there is no such response"}
	}
	if err != nil {
		return nil, err
	}
	start, err := c.Runs.StartOf(run)
	if err != nil {
		return nil, err
	}
	if start.Input.Agent != a.Name {
		return nil, invalid("model", "invalid_value", "model: the response is of %s; use this model", start.Input.Agent)
	}
	return existing(ctx, c, run)
}

// continueFrom continues behind a previous response. If its run has ended, another one starts.
// Otherwise the message answers its question, or is sent to the run.
func (q *responseRequest) continueFrom(r *http.Request, h *Handler, c *access.Client, a *agents.Agent, d *dialog) (*segment, error) {
	const param = "previous_response_id"
	id, ok := parseResponse(q.Previous)
	if !ok {
		return nil, invalid(param, "invalid_value", "%s: use the id of a response", param)
	}
	s, err := h.ofAgent(r.Context(), c, a, id.run, param)
	switch {
	case err != nil:
		return nil, err
	case s.past.Status != "":
		start, err := c.Runs.StartOf(id.run)
		if err != nil {
			return nil, err
		}
		before := start.Input.Earlier
		if s.past.Status == stop.RunCompleted || s.past.Status == stop.RunStopped {
			before = append(slices.Clone(before), memory.Interaction{Question: s.past.Question, Answer: s.past.Outcome(), Status: s.past.Status})
		}
		return q.start(r, c, a, d, access.NewRun{
			MemoryID: runtime.ConversationID(start.Input), Earlier: append(before, d.earlier...), EarlierOnly: true,
		})
	case s.past.WaitsFor(s.past.Open):
		return answerStrictly(r.Context(), c, id.run, s.past.Open, d)
	}
	if err := noFiles("input", d.files); err != nil {
		return nil, err
	}
	s.after = s.past.Seq
	return s, c.Message(r.Context(), id.run, runs.Message{ID: runs.NewMessageID(), Text: d.question})
}

// answerStrictly is answer for programs: a message that is no answer is an error.
func answerStrictly(ctx context.Context, c *access.Client, run string, open []interrupt.Question, d *dialog) (*segment, error) {
	if err := noFiles("input", d.files); err != nil {
		return nil, err
	}
	s, err := answer(ctx, c, run, open, d.question)
	if err == nil && s.open != nil {
		return nil, invalid("input", "invalid_value", "run %s waits: %s %s", run, s.why, turn.Prompt(open))
	}
	return s, err
}

// approve answers requests for approvals, which must be of one run.
func (h *Handler) approve(ctx context.Context, c *access.Client, a *agents.Agent, all []approval) (s *segment, err error) {
	const param = "approval_request_id"
	run, _, ok := parseApproval(all[0].ID)
	if !ok {
		return nil, invalid(param, "invalid_value", "%s: use the id of an mcp_approval_request", param)
	}
	if s, err = h.ofAgent(ctx, c, a, run, param); err != nil {
		return nil, err
	}
	paths := map[int]string{} // by the number of the event
	if _, err = turn.Replay(ctx, c, run, func(_ *turn.Turn, change turn.Change) {
		if change.Kind == turn.Asked {
			paths[change.Seq] = change.Question.Path
		}
	}); err != nil {
		return nil, err
	}
	for _, answer := range all {
		of, seq, _ := parseApproval(answer.ID)
		if of != run || paths[seq] == "" {
			return nil, invalid(param, "invalid_value", "%s: %q is not a request for an approval of run %s", param, answer.ID, run)
		}
		do := manager.Answer{Path: paths[seq], Do: "approve"}
		if !answer.Approve {
			do.Do, do.Value = "deny", answer.Reason
		}
		err := c.Answer(ctx, run, do)
		if decided, ok := errors.AsType[*manager.DecidedError](err); ok && decided.Decision.Do == do.Do {
			err = nil // the client repeats the request
		}
		if err != nil {
			return nil, err
		}
		s.after, s.answered = max(s.after, seq), append(s.answered, do.Path)
	}
	return s, nil
}
