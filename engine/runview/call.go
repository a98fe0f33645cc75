package runview

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
)

// Call is a call of a run with everything that was sent and returned.
type Call struct {
	Path   string     `json:"path"`
	Kind   ItemKind   `json:"kind"`   // model, tool or question
	Status CallStatus `json:"status"` // whether it has an outcome

	// Of model calls.
	Messages []CallMessage              `json:"messages,omitempty"`
	Tools    json.RawMessage            `json:"tools,omitempty"`  // offered to the model
	Params   json.RawMessage            `json:"params,omitempty"` // model, temperature, ...
	Fields   map[string]json.RawMessage `json:"fields,omitempty"` // everything else of the request
	Usage    *model.Tokens              `json:"usage,omitempty"`
	Parent   *CallParent                `json:"parent,omitempty"` // the call that it continues; nil = none

	Request json.RawMessage  `json:"request,omitempty"` // of a tool call or question
	Reply   json.RawMessage  `json:"reply,omitempty"`   // reply of the model, result of the tool, or decision
	Failure *journal.Failure `json:"failure,omitempty"`
}

// CallStatus is the status of a call.
type CallStatus string

// The call statuses.
const (
	CallOpen   CallStatus = "open" // no outcome
	CallOK     CallStatus = "ok"
	CallFailed CallStatus = "failed"
)

// CallParent is the earlier model call of the run whose messages a call begins with, and
// what else of the request changed since.
type CallParent struct {
	Path           string       `json:"path"`
	SharedMessages int          `json:"shared_messages"` // the first messages, which are the same
	Changes        []CallChange `json:"changes"`
}

// CallChange is a difference between the requests of two calls.
type CallChange struct {
	What   string `json:"what"`   // such as parameters, or tool search
	Before string `json:"before"` // "" = new
	After  string `json:"after"`  // "" = removed
}

// CallMessage is a message of a request.
type CallMessage struct {
	model.Message
	Text string `json:"text"`
}

// NewCall returns the call at a path, or nil if the run has none. Of a call that was
// repeated it is the last attempt.
func NewCall(records []journal.Record, path string) (*Call, error) {
	standing := journal.WithoutVoided(records)
	i := lastAt(standing, path, journal.Intent)
	if i < 0 {
		return nil, nil
	}
	c := &Call{Path: path, Kind: ToolItem, Status: CallOpen}
	switch intent := &standing[i]; {
	case drift.IsRequest(intent):
		if err := c.request(records); err != nil {
			return nil, err
		}
	case intent.Class == journal.Question:
		c.Kind, c.Request = QuestionItem, jsonOf(intent.Body)
	default:
		c.Request = jsonOf(intent.Body)
	}
	if j := lastAt(standing, path, journal.Result); j > i {
		c.outcome(&standing[j])
	}
	return c, nil
}

// lastAt returns the index of the last record of a kind at a path, or -1.
func lastAt(records []journal.Record, path string, kind journal.Kind) int {
	for i := range slices.Backward(records) {
		if records[i].Kind == kind && records[i].Path == path {
			return i
		}
	}
	return -1
}

// request adds the request of a model call.
func (c *Call) request(records []journal.Record) error {
	all, err := drift.Requests(records)
	if err != nil {
		return fmt.Errorf("call %s: %w", c.Path, err)
	}
	c.Kind, c.Messages, c.Fields = ModelItem, []CallMessage{}, map[string]json.RawMessage{}
	for i, r := range slices.Backward(all) {
		if r.Path != c.Path {
			continue
		}
		c.Parent = parentOf(all[:i], r.Request)
		for _, m := range r.Request.Messages {
			out := CallMessage{Text: strings.Join(m.Text, "")}
			if err := json.Unmarshal(m.Head, &out.Message); err != nil {
				return fmt.Errorf("call %s: %w", c.Path, err)
			}
			out.Message.Text = nil
			c.Messages = append(c.Messages, out)
		}
		for _, f := range r.Request.Fields {
			switch f.Name {
			case "tools":
				c.Tools = f.JSON
			case "params":
				c.Params = f.JSON
			default:
				c.Fields[f.Name] = f.JSON
			}
		}
		break
	}
	return nil
}

// parentOf returns the parent of a model call, or nil.
func parentOf(earlier []drift.RecordedRequest, now journal.Request) *CallParent {
	path, shared := drift.SharedPrefix(earlier, now)
	if shared == 0 {
		return nil
	}
	p := &CallParent{Path: path, SharedMessages: shared, Changes: []CallChange{}}
	i := slices.IndexFunc(earlier, func(r drift.RecordedRequest) bool { return r.Path == path })
	for _, d := range drift.Compare(earlier[i].Request, now) {
		if d.What != "messages" {
			p.Changes = append(p.Changes, CallChange{d.What, d.Before, d.After})
		}
	}
	return p
}

// outcome adds the outcome of the call.
func (c *Call) outcome(r *journal.Record) {
	if r.Status != journal.OK {
		c.Status, c.Failure = CallFailed, &journal.Failure{}
		if json.Unmarshal(r.Body, c.Failure) != nil {
			c.Failure.Message = string(r.Body)
		}
		return
	}
	c.Status, c.Reply = CallOK, jsonOf(r.Body)
	var reply model.Reply
	if c.Kind == ModelItem && json.Unmarshal(r.Body, &reply) == nil {
		c.Usage = &reply.Usage
	}
}

// jsonOf returns a body as JSON: other texts become a string.
func jsonOf(body []byte) json.RawMessage {
	if len(body) == 0 {
		return nil
	}
	if json.Valid(body) {
		return slices.Clone(body)
	}
	text, _ := json.Marshal(string(body)) // a string always encodes
	return text
}
