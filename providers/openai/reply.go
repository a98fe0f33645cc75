package openai

import (
	"encoding/json"
	"strconv"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/respjson"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// answer reads a whole body.
func answer(body []byte) (*model.Reply, error) {
	var c sdk.ChatCompletion
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, modelhttp.Bad("the server's answer is no JSON: %s", modelhttp.ErrorBody(body))
	}
	if fault, ok := c.JSON.ExtraFields["error"]; ok && fault.Raw() != "null" {
		return nil, words.Reported([]byte(c.RawJSON()))
	}
	if len(c.Choices) == 0 {
		return nil, modelhttp.Bad("the server's answer has no choices: %s", modelhttp.ErrorBody(body))
	}
	choice := c.Choices[0]
	text, _, err := content(choice.Message.Content, choice.Message.JSON.Content)
	if err != nil {
		return nil, err
	}
	r := draft{id: c.ID, model: c.Model, text: text, refusal: choice.Message.Refusal, finish: choice.FinishReason, stopped: stoppedAt(choice.JSON.ExtraFields)}
	for _, call := range choice.Message.ToolCalls {
		r.calls = append(r.calls, model.ToolCall{ID: call.ID, Name: call.Function.Name, Args: json.RawMessage(call.Function.Arguments)})
	}
	if c.JSON.Usage.Valid() {
		r.usage = tokens(c.Usage)
	}
	return r.reply()
}

// draft is a reply as the server wrote it.
type draft struct {
	id, model     string
	text, refusal string
	calls         []model.ToolCall
	finish        string
	stopped       bool // at one of the caller's stop sequences
	usage         model.Tokens
}

// reply makes the engine's reply of a draft.
func (d draft) reply() (out *model.Reply, err error) {
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

// stop translates the reason why the model stopped. Servers that do not say,
// or say a word of their own, have ended their turn.
func (d draft) stop(calls bool) (model.StopReason, error) {
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
	case d.stopped || d.finish == "stop_sequence":
		return model.StopSequence, nil
	}
	return model.EndTurn, nil
}

// content is a message's text: a string, or the text parts of a list, in which
// Mistral's models also think.
func content(s string, raw respjson.Field) (text, thinking string, err error) {
	if strings.HasPrefix(raw.Raw(), `"`) || raw.Raw() == "" || raw.Raw() == "null" { // the SDK takes numbers for text
		return s, "", nil
	}
	var parts []struct {
		Type, Text string
		Thinking   json.RawMessage
	}
	if err := json.Unmarshal([]byte(raw.Raw()), &parts); err != nil {
		return "", "", modelhttp.Bad("the message's content is neither text nor a list of parts: %.100s", raw.Raw())
	}
	var b, t strings.Builder
	for _, p := range parts {
		switch p.Type {
		case "text":
			b.WriteString(p.Text)
		case "thinking":
			var inner []struct{ Text string }
			_ = json.Unmarshal(p.Thinking, &inner) // of another shape: only people would have watched it
			for _, i := range inner {
				t.WriteString(i.Text)
			}
		}
	}
	return b.String(), t.String(), nil
}

// stoppedAt reads the field by which vLLM and others name the stop sequence.
func stoppedAt(extra map[string]respjson.Field) bool {
	var s string
	return json.Unmarshal([]byte(extra["stop_reason"].Raw()), &s) == nil && s != ""
}

// tokens translates usage; nonsense counts as missing. Some servers count
// reasoning beside the completion, which shows in the total.
func tokens(u sdk.CompletionUsage) model.Tokens {
	reasoning, cached := u.CompletionTokensDetails.ReasoningTokens, u.PromptTokensDetails.CachedTokens
	if cached == 0 {
		cached, _ = strconv.ParseInt(u.JSON.ExtraFields["prompt_cache_hit_tokens"].Raw(), 10, 64)
	}
	output := u.CompletionTokens
	if reasoning > 0 && u.TotalTokens == u.PromptTokens+output+reasoning {
		output += reasoning
	}
	if !modelhttp.Plausible(u.PromptTokens, output, cached, reasoning) {
		return model.Tokens{}
	}
	return model.Tokens{Input: int(u.PromptTokens), Output: int(output), Cached: int(cached), Reasoning: int(reasoning)}
}
