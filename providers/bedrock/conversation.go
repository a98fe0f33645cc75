package bedrock

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/providers/modelhttp"
)

// emptyOutput replaces an empty tool result: Bedrock rejects blank texts.
const emptyOutput = "(no output)"

// conversation writes the messages. System messages go to a separate field. User and assistant alternate, and all
// results of a message's calls are in one user message. Blank texts are omitted.
func (w *writer) conversation() {
	for _, m := range w.req.Messages {
		text := m.Text.String()
		switch m.Role {
		case model.System:
			if !isBlank(text) {
				w.in.System = append(w.in.System, &types.SystemContentBlockMemberText{Value: text})
			}
		case model.Assistant:
			w.addBlocks(types.ConversationRoleAssistant, w.assistant(m, text)...)
		case model.ToolRole:
			w.addBlocks(types.ConversationRoleUser, w.result(m, text))
		case model.User:
			w.addBlocks(types.ConversationRoleUser, append(w.files(m.Attachments), textBlocks(text)...)...)
		}
	}
}

// addBlocks appends blocks to the last message if it has the same role, else as a new message.
func (w *writer) addBlocks(role types.ConversationRole, blocks ...types.ContentBlock) {
	if len(blocks) == 0 {
		return
	}
	if n := len(w.in.Messages); n > 0 && w.in.Messages[n-1].Role == role {
		last := &w.in.Messages[n-1]
		last.Content = append(last.Content, blocks...)
		return
	}
	w.in.Messages = append(w.in.Messages, types.Message{Role: role, Content: blocks})
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

func textBlocks(text string) []types.ContentBlock {
	if isBlank(text) {
		return nil
	}
	return []types.ContentBlock{&types.ContentBlockMemberText{Value: text}}
}

// assistant writes a message of the model: the thinking before its first call, its text, and its calls, each after its
// thinking.
func (w *writer) assistant(m model.Message, text string) []types.ContentBlock {
	var out []types.ContentBlock
	for i, c := range m.Calls {
		thoughts := w.thoughts(c)
		out = append(out, thoughts...)
		if i == 0 {
			w.missingThinking = len(thoughts) == 0
			out = append(out, textBlocks(text)...)
		}
		id, name := w.callID(c.ID), c.Name
		out = append(out, &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{ToolUseId: &id, Name: &name, Input: raw(modelhttp.Object(c.Args))}})
	}
	if len(m.Calls) == 0 {
		w.missingThinking = false // there were no calls
		return textBlocks(text)
	}
	return out
}

func (w *writer) result(m model.Message, text string) types.ContentBlock {
	if isBlank(text) {
		text = emptyOutput
	}
	id := w.callID(m.CallID)
	r := types.ToolResultBlock{ToolUseId: &id, Content: []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: text}}}
	if m.IsError && supportsResultStatus(w.base) {
		r.Status = types.ToolResultStatusError
	}
	return &types.ContentBlockMemberToolResult{Value: r}
}

// The call ids that Bedrock allows, and those that Claude allows.
var (
	allowedID = text.Regexp(`^[a-zA-Z0-9_.:-]{1,64}$`)
	strictID  = text.Regexp(`^[a-zA-Z0-9_-]{1,64}$`)
)

// callID returns a call's id in a form that the model allows. Ids of other providers may be longer or have other
// characters.
func (w *writer) callID(id string) string {
	allowed := allowedID()
	if isClaude(w.base) {
		allowed = strictID()
	}
	if allowed.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}
