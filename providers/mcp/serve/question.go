package serve

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
)

// sessionless is the first protocol without sessions, in which questions are results.
const sessionless = "2026-07-28"

func isSessionless(session *sdk.ServerSession) bool {
	p := session.InitializeParams()
	return p == nil || p.ProtocolVersion >= sessionless
}

// canElicit reports whether a client can ask its user to fill in a form. A client that does not
// say which kinds it supports means forms.
func canElicit(session *sdk.ServerSession) bool {
	p := session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil
}

// elicitation returns a question as a form.
func elicitation(q *interrupt.Question) *sdk.ElicitParams {
	message := q.Summary()
	if q.Kind != interrupt.Elicitation && len(q.Args) > 0 && string(q.Args) != "null" {
		message += "\n\n" + indented(q.Args)
	}
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: formOf(q)}
}

// formOf returns the JSON Schema of the form for a question.
func formOf(q *interrupt.Question) json.RawMessage {
	const reason = `"reason": {"type": "string", "title": "Reason", "description": "Why not, for the agent"}`
	switch {
	case isText(q.Kind):
		return json.RawMessage(`{"type": "object", "properties": {"answer": {"type": "string", "title": "Answer"}}, "required": ["answer"]}`)
	case isForm(q):
		return q.Args
	case q.Kind == interrupt.Review:
		return json.RawMessage(`{"type": "object", "properties": {
			"decision": {"type": "string", "title": "Decision", "enum": ["redo", "skip", "done"]},
			"result": {"type": "string", "title": "Result", "description": "JSON, if the call is done"}
		}, "required": ["decision"]}`)
	case q.Kind == interrupt.Guard, q.Kind == interrupt.Elicitation:
		return json.RawMessage(`{"type": "object", "properties": {
			"decision": {"type": "string", "title": "Decision", "enum": ["approve", "deny"]}, ` + reason + `
		}, "required": ["decision"]}`)
	default:
		return json.RawMessage(`{"type": "object", "properties": {
			"decision": {"type": "string", "title": "Decision", "enum": ["approve", "deny", "edit"]}, ` + reason + `,
			"edited": {"type": "string", "title": "Edited", "description": "JSON to use instead, for edit"}
		}, "required": ["decision"]}`)
	}
}

func isText(k interrupt.Kind) bool { return k == interrupt.Human || k == interrupt.User }

// isForm reports whether a question is the form of a tool server.
func isForm(q *interrupt.Question) bool {
	var form struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
	}
	return q.Kind == interrupt.Elicitation && json.Unmarshal(q.Args, &form) == nil && form.Type == "object" && len(form.Properties) > 0
}

// answerOf returns the answer to a question that a form contains. It returns false if the user
// made no decision.
func answerOf(q *interrupt.Question, form *sdk.ElicitResult) (answer string, ok bool) {
	if form == nil {
		return "", false
	}
	field := func(name string) string {
		text, _ := form.Content[name].(string)
		return strings.TrimSpace(text)
	}
	switch {
	case form.Action == "decline":
		return "deny", q.Kind != interrupt.Review
	case form.Action != "accept":
		return "", false
	case isText(q.Kind):
		return field("answer"), field("answer") != ""
	case isForm(q):
		b, err := json.Marshal(form.Content)
		return "edit:" + string(b), err == nil
	}
	decision := field("decision")
	for name, prefix := range map[string]string{"deny": "reason", "edit": "edited", "done": "result"} {
		if detail := field(prefix); decision == name && detail != "" {
			return decision + ":" + detail, true
		}
	}
	return decision, decision != ""
}

// answersTo says in which form run_answer takes the answers to a kind of question.
func answersTo(k interrupt.Kind) string {
	switch {
	case isText(k):
		return "any text"
	case k == interrupt.Guard:
		return "approve, or deny:REASON"
	case k == interrupt.Review:
		return "redo, skip, or done:JSON with the result of the call"
	case k == interrupt.Elicitation:
		return "edit:JSON with the values, approve, or deny:REASON"
	default:
		return "approve, deny:REASON, or edit:JSON"
	}
}

// describe says in words how a run is that asks nothing, and what to do.
func describe(res *engine.Result) string {
	if ended(res) {
		return res.Outcome()
	}
	return fmt.Sprintf("Run %s is %s and continues. Call %s with run %q to wait for its result.", res.RunID, progressOf(res), runGet, res.RunID)
}

// describeQuestions says in words what a run asks, and how the client can answer.
func describeQuestions(res *engine.Result, canAnswer bool) string {
	var b strings.Builder
	if canAnswer {
		fmt.Fprintf(&b, "Run %s waits for a decision. Ask the user; then call %s with the run, the path and the answer.", res.RunID, runAnswer)
	} else {
		fmt.Fprintf(&b, "Run %s waits for the decision of someone who may approve; this client may not. Call %s later.", res.RunID, runGet)
	}
	for i := range res.Interrupts {
		q := &res.Interrupts[i]
		fmt.Fprintf(&b, "\n\npath: %s\nquestion: %s", q.Path, q.Summary())
		if len(q.Args) > 0 && string(q.Args) != "null" {
			fmt.Fprintf(&b, "\narguments: %s", indented(q.Args))
		}
		if canAnswer {
			fmt.Fprintf(&b, "\nanswer: %s", answersTo(q.Kind))
		}
	}
	return b.String()
}

// progressOf returns the status of a run that has not ended, for a sentence.
func progressOf(res *engine.Result) string {
	if res.Status == "queued" {
		return "queued"
	}
	return "in progress"
}

func indented(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, v, "", "  ") != nil {
		return string(v)
	}
	return b.String()
}

// requestState names the run of a call that returned input_required, and what was asked. It
// permits nothing: each request is checked, so it needs no signature.
type requestState struct {
	Run   string            `json:"run"`
	Asked map[string]string `json:"asked"` // digests of the questions, by path
}

// inputRequired asks the client for the answers to all open questions.
func inputRequired(res *engine.Result) (*sdk.CallToolResult, error) {
	state := requestState{Run: res.RunID, Asked: map[string]string{}}
	out := &sdk.CallToolResult{Meta: sdk.Meta{"pexctl.dev/run_id": res.RunID}, Content: []sdk.Content{}, InputRequests: sdk.InputRequestMap{}}
	for i := range res.Interrupts {
		q := &res.Interrupts[i]
		state.Asked[q.Path] = digest(q)
		out.InputRequests[q.Path] = elicitation(q)
	}
	b, err := json.Marshal(state)
	out.RequestState = base64.RawURLEncoding.EncodeToString(b)
	return out, err
}

// parseState returns the state that inputRequired has encoded.
func parseState(text string) (state requestState, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return state, err == nil && json.Unmarshal(b, &state) == nil && state.Run != ""
}

// digest identifies the content of a question.
func digest(q *interrupt.Question) string {
	b, _ := q.Journaled() // a question that was asked encodes
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
