package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// parseReply reads the body of a reply that is not streamed.
func parseReply(body []byte) (*model.Reply, error) {
	c, err := decode(body)
	if err != nil {
		return nil, modelhttp.Bad("the server's reply is not valid JSON: %s", modelhttp.ErrorBody(body))
	}
	if c.failed() {
		return nil, words.ParseError(body)
	}
	if len(c.Choices) == 0 {
		return nil, modelhttp.Bad("the server's reply has no choices: %s", modelhttp.ErrorBody(body))
	}
	message := &c.Choices[0].Message
	text, _, err := message.content()
	if err != nil {
		return nil, err
	}
	r := rawReply{
		id: c.ID, model: c.Model, text: text, refusal: message.Refusal,
		finish: c.Choices[0].FinishReason, stopSequence: bool(c.Choices[0].StopReason), usage: c.Usage.tokens(),
	}
	for _, call := range message.ToolCalls {
		r.calls = append(r.calls, model.ToolCall{ID: call.ID, Name: call.Function.Name, Args: json.RawMessage(call.Function.Arguments)})
	}
	return r.reply()
}

// rawReply is a reply in the server's terms.
type rawReply struct {
	id, model     string
	text, refusal string
	calls         []model.ToolCall
	finish        string
	stopSequence  bool // the model stopped at one of the request's stop sequences
	usage         model.Tokens
}

// reply converts a reply to the engine's terms.
func (d *rawReply) reply() (out *model.Reply, err error) {
	out = &model.Reply{ID: d.id, Model: d.model, Text: d.text, Usage: d.usage}
	for _, c := range d.calls {
		if out.Calls, err = modelhttp.AddCall(out.Calls, c); err != nil {
			return nil, err
		}
	}
	if out.Stop, err = d.stop(len(out.Calls) > 0); err != nil {
		return nil, err
	}
	if d.refusal != "" && d.refusal != out.Text {
		out.Text = strings.TrimPrefix(out.Text+"\n\n"+d.refusal, "\n\n")
	}
	return out, nil
}

// stop converts the finish reason. A missing or unknown one counts as the end of the turn.
func (d *rawReply) stop(calls bool) (model.StopReason, error) {
	if d.refusal != "" {
		return model.Refusal, nil
	}
	switch d.finish {
	case "length", "max_tokens", "model_length":
		return model.MaxTokens, nil
	case "content_filter", "safety", "SAFETY", "recitation", "RECITATION":
		return model.ContentFiltered, nil
	case "refusal":
		return model.Refusal, nil
	case "guardrail", "guardrail_intervened":
		return model.Guardrail, nil
	case "error", "insufficient_system_resource":
		return "", &model.Error{Kind: model.ServerError, Message: "the server ended the reply with " + d.finish}
	case "malformed_function_call", "MALFORMED_FUNCTION_CALL":
		return "", modelhttp.Bad("the server ended the reply with %s", d.finish)
	}
	switch {
	case calls:
		return model.ToolUse, nil
	case d.stopSequence || d.finish == "stop_sequence":
		return model.StopSequence, nil
	}
	return model.EndTurn, nil
}

// content returns the text of a message, and the thinking in it. The content is a string,
// or a list of parts, which Mistral uses for thinking.
func (m *replyMessage) content() (text, thinking string, err error) {
	if len(m.Content) == 0 {
		return "", "", nil
	}
	if raw := m.Content; raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) { // most chunks
		return string(raw[1 : len(raw)-1]), "", nil
	}
	if json.Unmarshal(m.Content, &text) == nil {
		return text, "", nil
	}
	var parts []struct {
		Type, Text string
		Thinking   json.RawMessage
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", "", modelhttp.Bad("the message's content is neither text nor a list of parts: %.100s", m.Content)
	}
	var b, t strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "text":
			b.WriteString(p.Text)
		case "thinking":
			var inner []struct{ Text string }
			_ = json.Unmarshal(p.Thinking, &inner) // another format: thinking is only displayed
			for _, i := range inner {
				t.WriteString(i.Text)
			}
		}
	}
	return b.String(), t.String(), nil
}

// tokens returns the token counts, or zero ones if u is nil or implausible. Some servers
// do not include reasoning in the completion tokens, which shows in the total.
func (u *usage) tokens() model.Tokens {
	if u == nil {
		return model.Tokens{}
	}
	input, output, reasoning := u.PromptTokens, u.CompletionTokens, u.CompletionTokensDetails.ReasoningTokens
	cached := cmp.Or(u.PromptTokensDetails.CachedTokens, u.PromptCacheHitTokens)
	if reasoning > 0 && u.TotalTokens == input+output+reasoning {
		output += reasoning
	}
	if !modelhttp.Plausible(input, output, cached, reasoning) {
		return model.Tokens{}
	}
	return model.Tokens{Input: int(input), Output: int(output), Cached: int(cached), Reasoning: int(reasoning)}
}
