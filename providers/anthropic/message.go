package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"regexp"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// telling writes a conversation. The API knows two speakers, who take turns; the
// results of a reply's calls stand together in the user's next turn.
type telling struct {
	params  *sdk.MessageNewParams
	carried bool // thinking is sent back where it still belongs
	digest  hash.Hash
	gap     bool // since the last user message the model's turn has begun without its thinking
	begun   bool // the model has spoken since the last user message
}

// tell writes the conversation into a request, from the start; order, if not
// empty, is added to the system prompt.
func (a *ask) tell(order string, carried bool) *telling {
	t := &telling{params: &a.params, carried: carried, digest: sha256.New()}
	system, rest := leading(a.request.Messages)
	if order != "" {
		system = append(system, order)
	}
	t.params.System, t.params.Messages = nil, nil
	text := strings.Join(system, "\n\n")
	t.note("model", a.model, "system", text)
	for _, tool := range a.request.Tools {
		t.note("tool", tool.Name, tool.Description, string(tool.Input))
	}
	for _, m := range rest {
		t.message(m)
	}
	switch {
	case text == "":
	case len(t.params.Messages) == 0: // the API wants a message
		t.user(sdk.NewTextBlock(text))
	default:
		t.params.System = []sdk.TextBlockParam{{Text: text}}
	}
	if len(t.params.Messages) == 0 {
		t.user(sdk.NewTextBlock("(empty)"))
	}
	return t
}

// leading divides a conversation into the system prompts that it begins with and
// the rest.
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

// blank texts are refused by the API.
func blank(s string) bool { return strings.TrimSpace(s) == "" }

func (t *telling) message(m model.Message) {
	text := m.Text.String()
	switch m.Role {
	case model.ToolRole:
		t.note("result", id(m.CallID), text, fmt.Sprint(m.IsError))
		t.user(result(m, text))
	case model.Assistant:
		t.assistant(m, text)
	case model.User, model.System: // a system prompt in the middle is the user's word
		t.note("user", text)
		if t.begun, t.gap = false, false; !blank(text) {
			t.user(sdk.NewTextBlock(text))
		}
	}
}

// user adds a block to the user's turn.
func (t *telling) user(block sdk.ContentBlockParamUnion) {
	if n := len(t.params.Messages); n > 0 && t.params.Messages[n-1].Role == sdk.MessageParamRoleUser {
		last := &t.params.Messages[n-1]
		last.Content = append(last.Content, block)
		return
	}
	t.params.Messages = append(t.params.Messages, sdk.NewUserMessage(block))
}

func result(m model.Message, text string) sdk.ContentBlockParamUnion {
	out := &sdk.ToolResultBlockParam{ToolUseID: id(m.CallID)}
	if m.IsError {
		out.IsError = param.NewOpt(true)
		if blank(text) { // an error without content is refused
			text = "the call failed"
		}
	}
	if !blank(text) {
		out.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: text}}}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: out}
}

// assistant writes what the model said before. Its thinking, its text and its
// calls stand in one message, in the order in which they came.
func (t *telling) assistant(m model.Message, text string) {
	before := t.sum()
	var blocks []sdk.ContentBlockParamUnion
	kept := false
	if t.carried {
		blocks, kept = recall(m.Calls, text, before)
	}
	if !kept {
		blocks = plain(m.Calls, text)
		t.gap = t.gap || !t.begun
	}
	t.begun = true
	t.note("assistant", text, fmt.Sprint(kept))
	for _, c := range m.Calls {
		t.note("call", id(c.ID), c.Name, string(c.Args))
	}
	if len(blocks) > 0 {
		t.params.Messages = append(t.params.Messages, sdk.NewAssistantMessage(blocks...))
	}
}

// plain is a reply without thinking.
func plain(calls []model.ToolCall, text string) []sdk.ContentBlockParamUnion {
	var out []sdk.ContentBlockParamUnion
	if !blank(text) {
		out = append(out, sdk.NewTextBlock(text))
	}
	for _, c := range calls {
		out = append(out, callBlock(c))
	}
	return out
}

func callBlock(c model.ToolCall) sdk.ContentBlockParamUnion {
	return sdk.NewToolUseBlock(id(c.ID), modelhttp.Object(c.Args), c.Name)
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// id is a call's id in letters that the API takes: one that another provider made
// may have others.
func id(s string) string {
	if plainID.MatchString(s) {
		return s
	}
	return "call_x" + hex.EncodeToString([]byte(s))
}

// note adds to the digest of what has been told. Lengths keep words apart.
func (t *telling) note(words ...string) {
	for _, w := range words {
		fmt.Fprintf(t.digest, "%d:%s", len(w), w)
	}
}

// sum is the digest so far.
func (t *telling) sum() string { return hex.EncodeToString(t.digest.Sum(nil)[:16]) }
