package http

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/providers/modelhttp"
)

// gemini is gemini/v1beta/generatecontent. It has no field for parallel_tool_calls; the limit goes into the system
// prompt. A call carries the signature of its thought. If the signature is lost, models that require one (Gemini 3 and
// later) receive a placeholder.
type gemini struct{}

func (gemini) path(model string) string {
	if strings.Contains(model, "/") { // tunedModels/...
		return "/" + model + ":generateContent"
	}
	return "/models/" + url.PathEscape(model) + ":generateContent"
}

func (gemini) traits() traits { return traits{toolCalls: true, schema: true} }

func (gemini) values(req *model.Request, _ bool, to map[string]any) {
	system, rest := modelhttp.SplitSystem(req.Messages)
	if len(req.Tools) > 0 && !req.ParallelTools {
		system = append(system, oneCall)
	}
	if len(system) > 0 {
		to["system"] = map[string]any{"parts": blocks(system)}
	}
	model, _ := to["model"].(string)
	history := geminiHistory{wantsSignatures(model), map[string]string{}}
	var out []any
	for _, turn := range turns(rest, history.parts) {
		t := turn.(map[string]any)
		role := "user"
		if t["role"] == "assistant" {
			role = "model"
		}
		out = append(out, map[string]any{"role": role, "parts": t["content"]})
	}
	to["messages"] = out
	var functions []any
	for _, t := range req.Tools {
		f := map[string]any{"name": t.Name}
		describe(f, t, "description", "parametersJsonSchema")
		functions = append(functions, f)
	}
	if functions != nil {
		to["tools"] = []any{map[string]any{"functionDeclarations": functions}}
	}
	if req.Schema != nil {
		to["response_mime_type"] = "application/json"
	}
}

var generation = text.Regexp(`gemini-(\d+)`)

// wantsSignatures reports whether a model rejects calls without a signature.
func wantsSignatures(model string) bool {
	m := generation().FindStringSubmatch(model)
	return m != nil && m[1] != "1" && m[1] != "2"
}

// placeholderSignature is documented by Google as the replacement for a lost signature.
const placeholderSignature = "skip_thought_signature_validator"

// opaqueSignature is the data that a call carries of its reply.
type opaqueSignature struct {
	Signature string `json:"google_thought_signature"`
}

// geminiHistory converts the messages of a conversation in order.
type geminiHistory struct {
	signed bool              // the model requires signatures
	names  map[string]string // names of the tools by call id
}

func (h geminiHistory) parts(m model.Message) []any {
	if m.Role == model.ToolRole {
		key := "output"
		if m.IsError {
			key = "error"
		}
		of := map[string]any{"name": cmp.Or(m.Tool, h.names[m.CallID]), "response": map[string]any{key: m.Text.String()}}
		if m.CallID != "" {
			of["id"] = m.CallID
		}
		return []any{map[string]any{"functionResponse": of}}
	}
	out := blocks([]string{m.Text.String()})
	for i, c := range m.Calls {
		out = append(out, h.call(c, i == 0))
	}
	if len(out) == 0 {
		return blocks([]string{empty})
	}
	return out
}

func (h geminiHistory) call(c model.ToolCall, first bool) map[string]any {
	h.names[c.ID] = c.Name
	call := map[string]any{"name": c.Name, "args": modelhttp.Object(c.Args)}
	if c.ID != "" {
		call["id"] = c.ID
	}
	part := map[string]any{"functionCall": call}
	var s opaqueSignature
	_ = json.Unmarshal(c.Opaque, &s) // another provider's, or none
	if s.Signature != "" {
		part["thoughtSignature"] = s.Signature
	} else if first && h.signed {
		part["thoughtSignature"] = placeholderSignature
	}
	return part
}

func (gemini) body(values map[string]any) map[string]any {
	out, generation := map[string]any{}, map[string]any{}
	copyValues(out, values, "contents", "messages", "systemInstruction", "system", "tools", "tools")
	copyValues(generation, values, "temperature", "temperature", "topP", "top_p", "seed", "seed", "maxOutputTokens", "max_output_tokens",
		"stopSequences", "stop", "responseMimeType", "response_mime_type", "responseJsonSchema", "schema")
	if len(generation) > 0 {
		out["generationConfig"] = generation
	}
	return out
}

// geminiAnswer is a response of the API.
type geminiAnswer struct {
	ResponseID, ModelVersion string
	Candidates               []struct {
		Content struct {
			Parts []struct {
				Text         string
				Thought      bool
				Signature    string `json:"thoughtSignature"`
				FunctionCall *struct {
					ID, Name string
					Args     json.RawMessage
				}
			}
		}
		FinishReason, FinishMessage string
	}
	PromptFeedback struct{ BlockReason, BlockReasonMessage string }
	UsageMetadata  json.RawMessage
	Error          json.RawMessage
}

func (gemini) read(_ *model.Request, body []byte) (*rawReply, error) {
	var a geminiAnswer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, wrongProtocol("generateContent", body)
	}
	if len(a.Error) > 0 && string(a.Error) != "null" {
		return nil, errorWords.ParseError(body)
	}
	out := &rawReply{id: a.ResponseID, model: a.ModelVersion, usage: geminiUsage(a.UsageMetadata)}
	if reason := a.PromptFeedback.BlockReason; reason != "" && len(a.Candidates) == 0 {
		out.text = strings.TrimSpace("the prompt was blocked: " + reason + " " + a.PromptFeedback.BlockReasonMessage)
		out.stop = model.ContentFiltered
		return out, nil
	}
	if len(a.Candidates) == 0 {
		return nil, wrongProtocol("generateContent", body)
	}
	first := a.Candidates[0]
	for _, p := range first.Content.Parts {
		switch {
		case p.FunctionCall != nil:
			call := model.ToolCall{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Args: p.FunctionCall.Args}
			if p.Signature != "" {
				call.Opaque = json.RawMessage(jsontemplate.Text(opaqueSignature{p.Signature}))
			}
			out.calls = append(out.calls, call)
		case p.Thought:
			out.reasoning += p.Text
		default:
			out.text += p.Text
		}
	}
	var err error
	out.stop, err = geminiStop(first.FinishReason, first.FinishMessage, out.text != "" || len(out.calls) > 0)
	return out, err
}

func geminiStop(reason, message string, something bool) (model.StopReason, error) {
	switch reason {
	case "", "STOP", "FINISH_REASON_UNSPECIFIED":
		return model.EndTurn, nil
	case "MAX_TOKENS":
		return model.MaxTokens, nil
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY":
		return model.ContentFiltered, nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "MALFORMED_RESPONSE":
		return "", modelhttp.Bad("the model ended the reply with %s", strings.TrimSpace(reason+" "+message))
	}
	if something {
		return model.EndTurn, nil
	}
	return "", modelhttp.Bad("the model stopped without text: %s", strings.TrimSpace(reason+" "+message))
}

// geminiUsage returns the token counts. The API counts thoughts in addition to the
// output; here they are part of it.
func geminiUsage(raw json.RawMessage) model.Tokens {
	var u struct{ PromptTokenCount, CandidatesTokenCount, ThoughtsTokenCount, CachedContentTokenCount, ToolUsePromptTokenCount int }
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil {
		return model.Tokens{}
	}
	return model.Tokens{
		Input: u.PromptTokenCount + u.ToolUsePromptTokenCount, Output: u.CandidatesTokenCount + u.ThoughtsTokenCount,
		Cached: u.CachedContentTokenCount, Reasoning: u.ThoughtsTokenCount,
	}
}
