package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/providers/modelhttp"
)

// transcript writes a conversation into a request. In the API, user and assistant take
// turns; the results of a reply's tool calls belong to the user's next turn.
type transcript struct {
	body            *messageRequest
	restore         bool // send thinking back where it still fits
	digest          hash.Hash
	missingThinking bool // the assistant's part since the last user message starts without its thinking
	assistantSpoke  bool // since the last user message
}

// writeTranscript sets the system prompt and the messages. The instruction, if any, is
// added to the system prompt.
func (p *prepared) writeTranscript(instruction string, restore bool) *transcript {
	t := &transcript{body: &p.body, restore: restore, digest: sha256.New()}
	system, rest := leading(p.request.Messages)
	if instruction != "" {
		system = append(system, instruction)
	}
	t.body.System, t.body.Messages = nil, nil
	text := strings.Join(system, "\n\n")
	t.hash("model", p.body.Model, "system", text)
	for _, tool := range p.request.Tools {
		t.hash("tool", tool.Name, tool.Description, string(tool.Input))
	}
	for i := range rest {
		t.message(&rest[i])
	}
	switch {
	case text == "":
	case len(t.body.Messages) == 0: // the API requires a message
		t.user(textBlock(text))
	default:
		t.body.System = []requestBlock{{Type: typeText, Text: text}}
	}
	if len(t.body.Messages) == 0 {
		t.user(textBlock("(empty)"))
	}
	return t
}

// leading splits a conversation into the system prompts at its start, and the rest.
func leading(messages []model.Message) (system []string, rest []model.Message) {
	for i, m := range messages {
		if m.Role != model.System {
			return system, messages[i:]
		}
		if text := m.Text.String(); !blank(text) {
			system = append(system, text)
		}
	}
	return system, nil
}

// blank reports whether a text is blank. The API rejects such texts.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

func (t *transcript) message(m *model.Message) {
	text := m.Text.String()
	switch m.Role {
	case model.ToolRole:
		t.hash("result", id(m.CallID), text, fmt.Sprint(m.IsError))
		t.user(result(m, text))
	case model.Assistant:
		t.assistant(m, text)
	case model.User, model.System: // a system prompt in the middle is sent as the user's
		t.files(m.Attachments)
		t.hash("user", text)
		if t.assistantSpoke, t.missingThinking = false, false; !blank(text) {
			t.user(textBlock(text))
		}
	}
}

// files adds files to the user's turn.
func (t *transcript) files(files []model.Attachment) {
	for i := range files {
		f := &files[i]
		t.hash("file", f.SHA256)
		block := &requestBlock{Type: typeImage, Source: &source{Type: "base64", MediaType: f.MediaType, Data: f.Content}}
		if f.Kind() == model.PDFFile {
			block.Type, block.Title = typeDocument, f.BaseName()
		}
		t.user(block)
	}
}

func textBlock(text string) *requestBlock { return &requestBlock{Type: typeText, Text: text} }

// user adds a block to the user's turn.
func (t *transcript) user(block *requestBlock) {
	if n := len(t.body.Messages); n > 0 && t.body.Messages[n-1].Role == model.User {
		last := &t.body.Messages[n-1]
		last.Content = append(last.Content, block)
		return
	}
	t.body.Messages = append(t.body.Messages, turn{Role: model.User, Content: []*requestBlock{block}})
}

func result(m *model.Message, text string) *requestBlock {
	out := &requestBlock{Type: typeResult, ToolUseID: id(m.CallID), IsError: m.IsError}
	if m.IsError && blank(text) { // the API rejects an error without content
		text = "the call failed"
	}
	if !blank(text) {
		out.Content = []requestBlock{*textBlock(text)}
	}
	return out
}

// assistant adds a reply of the model: thinking, text and calls in their original order.
func (t *transcript) assistant(m *model.Message, text string) {
	before := t.sum()
	var blocks []*requestBlock
	restored := false
	if t.restore {
		blocks, restored = restoreThinking(m.Calls, text, before)
	}
	if !restored {
		blocks = withoutThinking(m.Calls, text)
		t.missingThinking = t.missingThinking || !t.assistantSpoke
	}
	t.assistantSpoke = true
	t.hash("assistant", text, fmt.Sprint(restored))
	for _, c := range m.Calls {
		t.hash("call", id(c.ID), c.Name, string(c.Args))
	}
	if len(blocks) > 0 {
		t.body.Messages = append(t.body.Messages, turn{Role: model.Assistant, Content: blocks})
	}
}

func withoutThinking(calls []model.ToolCall, text string) []*requestBlock {
	var out []*requestBlock
	if !blank(text) {
		out = append(out, textBlock(text))
	}
	for _, c := range calls {
		out = append(out, callBlock(c))
	}
	return out
}

func callBlock(c model.ToolCall) *requestBlock {
	return &requestBlock{Type: typeCall, ID: id(c.ID), Name: c.Name, Input: modelhttp.Object(c.Args)}
}

var plainID = text.Regexp(`^[A-Za-z0-9_-]+$`)

// id returns a call's id in characters that the API accepts. Ids of other providers may
// have others.
func id(s string) string {
	if plainID().MatchString(s) {
		return s
	}
	return "call_x" + hex.EncodeToString([]byte(s))
}

// hash adds words to the digest, each with its length so that they cannot run together.
func (t *transcript) hash(words ...string) {
	for _, w := range words {
		fmt.Fprintf(t.digest, "%d:%s", len(w), w)
	}
}

// sum returns the digest of the conversation so far. It is stored in journals.
func (t *transcript) sum() string { return hex.EncodeToString(t.digest.Sum(nil)[:16]) }
