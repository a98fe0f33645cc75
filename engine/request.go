package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/pexctl/pex/engine/journal"
)

// written is a request with its parts encoded, for its digest and its intent.
type written struct {
	*Request
	heads  []json.RawMessage // of its messages
	params json.RawMessage
}

func writtenRequest(req *Request) written {
	w := written{req, make([]json.RawMessage, len(req.Messages)), encoded(req.Params)}
	for i := range req.Messages {
		w.heads[i] = messageHead(req.Messages[i])
	}
	return w
}

// RecordedRequest is a request as a journal keeps it.
func RecordedRequest(r *Request) journal.Request { return writtenRequest(r).recorded(&toolsJSON{}) }

// recorded is the request as the journal keeps it: its messages by their text
// segments, so that a file grows with what is new in them.
func (w written) recorded(tools *toolsJSON) journal.Request {
	q := journal.Request{Messages: make([]journal.Message, len(w.Messages)), Fields: make([]journal.Field, 0, 7)}
	for i := range w.Messages {
		q.Messages[i] = journal.Message{Head: w.heads[i], Text: w.Messages[i].Text}
	}
	field := func(name string, b []byte) { q.Fields = append(q.Fields, journal.Field{Name: name, JSON: b}) }
	field("role", journal.AppendString(nil, w.Role))
	field("call", strconv.AppendInt(nil, int64(w.Call), 10))
	if w.Step != "" {
		field("step", journal.AppendString(nil, w.Step))
	}
	if len(w.Tools) > 0 {
		field("tools", tools.of(w.Tools))
	}
	if w.ParallelTools {
		field("parallel_tools", []byte("true"))
	}
	if w.Schema != nil {
		field("schema", encoded(w.Schema))
	}
	field("params", w.params)
	return q
}

// toolsJSON remembers how a list of tools is written: it hardly ever changes
// from one call to the next.
type toolsJSON struct {
	defs []ToolDef
	json json.RawMessage
}

func (t *toolsJSON) of(defs []ToolDef) json.RawMessage {
	same := func(a, b ToolDef) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Input, b.Input)
	}
	if t.json == nil || !slices.EqualFunc(t.defs, defs, same) {
		t.defs, t.json = defs, encoded(defs)
	}
	return t.json
}

var plainHeads = map[ChatRole]json.RawMessage{
	System: json.RawMessage(`{"role":"system"}`), User: json.RawMessage(`{"role":"user"}`), Assistant: json.RawMessage(`{"role":"assistant"}`),
}

// messageHead is all of a message but its text.
func messageHead(m Message) json.RawMessage {
	if head, ok := plainHeads[m.Role]; ok && len(m.Calls) == 0 && m.CallID == "" {
		return head
	}
	m.Text = nil
	return encoded(m)
}

// digest says whether two requests are the same, however their texts are cut
// into segments.
func (w written) digest() [32]byte {
	h := newDigester()
	h.parts(w.Role, w.Step)
	for i := range w.Messages {
		h.message(w.heads[i], w.Messages[i].Text)
	}
	return h.end(w.Request, w.params)
}

// RecordedDigest is the digest in the intent of a recorded request. Where it is
// not the recorded one, schemas were written there with other spaces.
func RecordedDigest(q journal.Request) ([32]byte, error) {
	var req Request
	into := map[string]any{
		"role": &req.Role, "step": &req.Step, "tools": &req.Tools, "schema": &req.Schema, "params": &req.Params,
	}
	for _, f := range q.Fields {
		if v := into[f.Name]; v != nil {
			if err := json.Unmarshal(f.JSON, v); err != nil {
				return [32]byte{}, fmt.Errorf("field %s of a recorded request: %w", f.Name, err)
			}
		}
	}
	h := newDigester()
	h.parts(req.Role, req.Step)
	for _, m := range q.Messages {
		h.message(m.Head, m.Text)
	}
	return h.end(&req, encoded(req.Params)), nil
}

// encoded is v as JSON; what the engine encodes is made of strings, numbers
// and JSON that was checked.
func encoded(v any) []byte {
	b, err := journal.Encode(v)
	if err != nil {
		return []byte("null")
	}
	return b
}

// ModelCall is one call of an llm by a node.
type ModelCall struct {
	Role     string // planner, executor, reflector, finalizer, judge, summarizer
	LLM      string // name of the llm
	StepID   string // "" outside a step
	Step     string // the step's goal, references filled in
	Messages []Message
	Tools    []ToolDef
	Parallel bool // several tool calls in one reply are welcome
	Schema   *ReplySchema
}
