package modelrecord

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
)

// Request is a request with encoded parts, for its digest and its intent.
type Request struct {
	*model.Request
	heads  []json.RawMessage // of its messages
	params json.RawMessage
}

// NewRequest encodes the parts of a request.
func NewRequest(req *model.Request) Request {
	w := Request{req, make([]json.RawMessage, len(req.Messages)), jsonvalue.Encode(req.Params)}
	for i := range req.Messages {
		w.heads[i] = messageHead(req.Messages[i])
	}
	return w
}

// Encode returns a request as a journal stores it.
func Encode(r *model.Request) journal.Request { return NewRequest(r).Record(&Tools{}) }

// Record returns the request as the journal stores it, with messages by text segment, so
// that the file grows only with new text.
func (w Request) Record(tools *Tools) journal.Request {
	q := journal.Request{Messages: make([]journal.Message, len(w.Messages)), Fields: make([]journal.Field, 0, 7)}
	for i := range w.Messages {
		q.Messages[i] = journal.Message{Head: w.heads[i], Text: w.Messages[i].Text}
	}
	field := func(name string, b []byte) { q.Fields = append(q.Fields, journal.Field{Name: name, JSON: b}) }
	field("role", jsonvalue.AppendString(nil, w.Role))
	field("call", strconv.AppendInt(nil, int64(w.Call), 10))
	if w.Step != "" {
		field("step", jsonvalue.AppendString(nil, w.Step))
	}
	if len(w.Tools) > 0 {
		field("tools", tools.of(w.Tools))
	}
	if w.ParallelTools {
		field("parallel_tools", []byte("true"))
	}
	if w.Schema != nil {
		field("schema", jsonvalue.Encode(w.Schema))
	}
	field("params", w.params)
	return q
}

// Tools caches the encoding of a list of tools, which rarely changes between calls.
type Tools struct {
	defs []model.ToolDef
	json json.RawMessage
}

func (t *Tools) of(defs []model.ToolDef) json.RawMessage {
	same := func(a, b model.ToolDef) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Input, b.Input)
	}
	if t.json == nil || !slices.EqualFunc(t.defs, defs, same) {
		t.defs, t.json = defs, jsonvalue.Encode(defs)
	}
	return t.json
}

var plainHeads = map[model.Role]json.RawMessage{
	model.System: json.RawMessage(`{"role":"system"}`), model.User: json.RawMessage(`{"role":"user"}`), model.Assistant: json.RawMessage(`{"role":"assistant"}`),
}

// messageHead encodes everything of a message but its text.
func messageHead(m model.Message) json.RawMessage {
	if head, ok := plainHeads[m.Role]; ok && len(m.Calls) == 0 && m.CallID == "" && len(m.Attachments) == 0 {
		return head
	}
	m.Text = nil
	return jsonvalue.Encode(m)
}

// Digest identifies a request, independent of how its texts are split into segments.
func (w Request) Digest() journal.Digest {
	h := newDigester()
	h.parts(w.Role, w.Step)
	for i := range w.Messages {
		h.message(w.heads[i], w.Messages[i].Text)
	}
	return h.end(w.Request, w.params)
}

// Digest returns the digest of a recorded request. It differs from the recorded digest if
// schemas were recorded with other white space.
func Digest(q journal.Request) (journal.Digest, error) {
	var req model.Request
	into := map[string]any{
		"role": &req.Role, "step": &req.Step, "tools": &req.Tools, "schema": &req.Schema, "params": &req.Params,
	}
	for _, f := range q.Fields {
		if v := into[f.Name]; v != nil {
			if err := json.Unmarshal(f.JSON, v); err != nil {
				return journal.Digest{}, fmt.Errorf("field %s of a recorded request: %w", f.Name, err)
			}
		}
	}
	h := newDigester()
	h.parts(req.Role, req.Step)
	for _, m := range q.Messages {
		h.message(m.Head, m.Text)
	}
	return h.end(&req, jsonvalue.Encode(req.Params)), nil
}
