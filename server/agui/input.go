package agui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/problem"
)

// input is a RunAgentInput.
type input struct {
	ThreadID       string            `json:"threadId"`
	RunID          string            `json:"runId"`
	Messages       []json.RawMessage `json:"messages"`
	Tools          []json.RawMessage `json:"tools"`
	Context        []json.RawMessage `json:"context"`
	ForwardedProps json.RawMessage   `json:"forwardedProps"`
	Resume         []resumeEntry     `json:"resume"`
}

// message is a message of the conversation. Those of other roles are not the client's.
type message struct {
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

const maxThreadID = 200

var runIDs = text.Regexp(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$`)

// parse returns the input in a request body.
func parse(body []byte) (*input, error) {
	in := &input{}
	if err := json.Unmarshal(body, in); err != nil {
		bad := problem.New(problem.InvalidRequest, "the request body must be a RunAgentInput")
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
			bad = problem.New(problem.InvalidRequest, "a %s is not expected here", e.Value).At("/" + strings.ReplaceAll(e.Field, ".", "/"))
		}
		return nil, bad
	}
	switch {
	case in.ThreadID == "" || len(in.ThreadID) > maxThreadID:
		return nil, problem.New(problem.InvalidRequest, "threadId must have 1 to %d characters", maxThreadID).At("/threadId")
	case !runIDs().MatchString(in.RunID):
		return nil, problem.New(problem.InvalidRequest, "runId must have 1 to 64 letters, digits, _, . and -, such as a UUID").At("/runId")
	case len(in.Tools) > 0:
		return nil, problem.New(problem.InvalidRequest, "tools of the front end are not supported; the agent calls its own tools").At("/tools")
	}
	return in, nil
}

// newRun returns the run that the input asks for.
func (in *input) newRun(a *agents.Agent) (access.NewRun, error) {
	question, earlier, err := in.conversation()
	if err != nil {
		return access.NewRun{}, err
	}
	if a.Program.Memory.Backend != "none" { // the memory has the conversation
		earlier = nil
	}
	var props struct {
		Parameters json.RawMessage `json:"parameters"`
	}
	if len(in.ForwardedProps) > 0 && in.ForwardedProps[0] == '{' {
		if err := json.Unmarshal(in.ForwardedProps, &props); err != nil {
			return access.NewRun{}, problem.New(problem.InvalidRequest, "forwardedProps must be an object").At("/forwardedProps")
		}
	}
	r := access.NewRun{RunID: in.RunID, Question: question, Parameters: props.Parameters, MemoryID: in.ThreadID, Earlier: earlier}
	r.Body = jsonvalue.Encode([]any{in.ThreadID, question, props.Parameters, earlier})
	return r, nil
}

// conversation returns the last message, which is the question, and the turns before it.
func (in *input) conversation() (question string, earlier []memory.Interaction, err error) {
	type plain struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	var said []plain
	for i, raw := range in.Messages {
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return "", nil, problem.New(problem.InvalidRequest, "a message must be an object with role and content").At("/messages/" + strconv.Itoa(i))
		}
		hasText := len(m.Content) > 0 && string(m.Content) != "null" && string(m.Content) != `""`
		if m.Role == "user" || m.Role == "assistant" && hasText {
			said = append(said, plain{m.Role, m.Content})
		}
	}
	if len(said) == 0 || said[len(said)-1].Role != "user" {
		return "", nil, problem.New(problem.InvalidRequest, "the last message must have the role user: it is the question").At("/messages")
	}
	earlier, question, err = dsl.Messages(jsonvalue.Encode(said))
	if err != nil {
		return "", nil, problem.New(problem.InvalidRequest, "%v", err).At("/messages")
	}
	if question == "" {
		return "", nil, problem.New(problem.InvalidRequest, "the last message has no text").At(fmt.Sprintf("/messages/%d/content", len(in.Messages)-1))
	}
	return question, earlier, nil
}

// ids returns the ids of the messages of the client.
func (in *input) ids() map[string]bool {
	ids := map[string]bool{}
	for _, raw := range in.Messages {
		var m message
		if json.Unmarshal(raw, &m) == nil {
			ids[m.ID] = true
		}
	}
	return ids
}
