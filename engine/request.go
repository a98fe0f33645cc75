package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/pexctl/pex/engine/journal"
)

// recordedRequest is a request as the journal keeps it: its messages by their
// text segments, so that a file grows with what is new in them.
func recordedRequest(req *Request) journal.Request {
	q := journal.Request{Messages: make([]journal.Message, len(req.Messages))}
	for i, m := range req.Messages {
		q.Messages[i] = journal.Message{Head: messageHead(m), Text: m.Text}
	}
	field := func(name string, v any) { q.Fields = append(q.Fields, journal.Field{Name: name, JSON: encoded(v)}) }
	field("role", req.Role)
	field("call", req.Call)
	if req.Step != "" {
		field("step", req.Step)
	}
	if len(req.Tools) > 0 {
		field("tools", req.Tools)
	}
	if req.ParallelTools {
		field("parallel_tools", true)
	}
	if req.Schema != nil {
		field("schema", req.Schema)
	}
	field("params", req.Params)
	return q
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

// requestDigest says whether two requests are the same, however their texts
// are cut into segments.
func requestDigest(req *Request) [32]byte {
	h := sha256.New()
	part(h, req.Role, req.Step)
	for i := range req.Messages {
		m := &req.Messages[i]
		messagePart(h, messageHead(*m), m.Text)
	}
	return around(h, req)
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
	h := sha256.New()
	part(h, req.Role, req.Step)
	for _, m := range q.Messages {
		messagePart(h, m.Head, m.Text)
	}
	return around(h, &req), nil
}

func messagePart(h hash.Hash, head []byte, text []string) {
	var size [8]byte
	binary.LittleEndian.PutUint64(size[:], uint64(Text(text).Len()))
	h.Write(head)
	h.Write(size[:])
	for _, s := range text {
		h.Write([]byte(s))
	}
}

// around hashes all but the messages, and ends the hash.
func around(h hash.Hash, req *Request) [32]byte {
	for _, t := range req.Tools {
		part(h, t.Name, t.Description, string(t.Input))
	}
	if req.Schema != nil {
		part(h, req.Schema.Name, string(req.Schema.Schema))
	}
	h.Write(encoded(req.Params))
	return [32]byte(h.Sum(nil))
}

// part hashes texts so that their borders count.
func part(h hash.Hash, texts ...string) {
	for _, t := range texts {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(t)))
		h.Write(size[:])
		h.Write([]byte(t))
	}
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
