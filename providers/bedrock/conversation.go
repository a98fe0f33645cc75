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

// noOutput stands for a tool's empty result: Bedrock refuses blank texts.
const noOutput = "(no output)"

// conversation writes the messages: what the system says apart, user and
// assistant in turn, all results of a message's calls in one message of the
// user. Blank texts are left out.
func (w *writer) conversation() {
	for _, m := range w.req.Messages {
		text := m.Text.String()
		switch m.Role {
		case model.System:
			if !blank(text) {
				w.in.System = append(w.in.System, &types.SystemContentBlockMemberText{Value: text})
			}
		case model.Assistant:
			w.say(types.ConversationRoleAssistant, w.assistant(m, text)...)
		case model.ToolRole:
			w.say(types.ConversationRoleUser, w.result(m, text))
		case model.User:
			w.say(types.ConversationRoleUser, words(text)...)
		}
	}
}

// say adds blocks to the last message where the same role speaks on.
func (w *writer) say(role types.ConversationRole, blocks ...types.ContentBlock) {
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

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func words(text string) []types.ContentBlock {
	if blank(text) {
		return nil
	}
	return []types.ContentBlock{&types.ContentBlockMemberText{Value: text}}
}

// assistant writes what the model said before: what it thought before its first
// call, its text, and its calls, each with what it thought before it.
func (w *writer) assistant(m model.Message, text string) []types.ContentBlock {
	var out []types.ContentBlock
	for i, c := range m.Calls {
		thoughts := w.thoughts(c)
		out = append(out, thoughts...)
		if i == 0 {
			w.unthought = len(thoughts) == 0
			out = append(out, words(text)...)
		}
		id, name := w.callID(c.ID), c.Name
		out = append(out, &types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{ToolUseId: &id, Name: &name, Input: raw(modelhttp.Object(c.Args))}})
	}
	if len(m.Calls) == 0 {
		w.unthought = false // nothing was called
		return words(text)
	}
	return out
}

func (w *writer) result(m model.Message, text string) types.ContentBlock {
	if blank(text) {
		text = noOutput
	}
	id := w.callID(m.CallID)
	r := types.ToolResultBlock{ToolUseId: &id, Content: []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: text}}}
	if m.IsError && marksErrors(w.base) {
		r.Status = types.ToolResultStatusError
	}
	return &types.ContentBlockMemberToolResult{Value: r}
}

// The ids of calls that Bedrock allows, and those that Claude does.
var (
	allowedID = text.Regexp(`^[a-zA-Z0-9_.:-]{1,64}$`)
	strictID  = text.Regexp(`^[a-zA-Z0-9_-]{1,64}$`)
)

// callID is a call's id as the model allows it; those of other providers may
// be longer, or written otherwise.
func (w *writer) callID(id string) string {
	allowed := allowedID()
	if claude(w.base) {
		allowed = strictID()
	}
	if allowed.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}
