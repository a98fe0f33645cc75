package genai

import (
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

const finishStop = "STOP"

// errMalformedCall is returned for a malformed call; the same request may succeed when repeated.
var errMalformedCall = errors.New("the model returned a malformed call")

// reply returns the engine's reply. A stream without a finish reason was truncated.
func (g *accumulator) reply() (*model.Reply, error) {
	stop, err := g.stop()
	if err != nil {
		return nil, err
	}
	out := &model.Reply{
		ID: g.id, Model: g.model, Text: g.text.String(), Calls: g.tools,
		Stop: stop, Usage: g.usage,
	}
	modelhttp.Finish(g.request, out)
	if (stop == model.ContentFiltered || stop == model.Guardrail) && out.Text == "" {
		out.Text = g.withheld()
	}
	return g.Complete(out, nil)
}

// stop converts the finish reason. Unknown reasons are errors, since the reply may be incomplete.
func (g *accumulator) stop() (model.StopReason, error) {
	if g.blocked != "" && g.blocked != "BLOCKED_REASON_UNSPECIFIED" {
		if g.blocked == "MODEL_ARMOR" {
			return model.Guardrail, nil
		}
		return model.ContentFiltered, nil
	}
	switch g.finish {
	case "":
		return "", g.unfinished()
	case finishStop, "STOP_SEQUENCE", "FUNCTION_CALL", "TOOL_CALL", "TOOL_CALLS": // all but the first are from other servers
		if len(g.tools) > 0 {
			return model.ToolUse, nil
		}
		return model.EndTurn, nil
	case "MAX_TOKENS":
		return model.MaxTokens, nil
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST",
		"PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
		"IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return model.ContentFiltered, nil
	case "MODEL_ARMOR":
		return model.Guardrail, nil
	case "OTHER", "FINISH_REASON_UNSPECIFIED":
		return "", &model.Error{Kind: model.ServerError, Message: g.ending()}
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
		e := modelhttp.Bad("%s", g.ending())
		e.Err = errMalformedCall
		return "", e
	default:
		return "", modelhttp.Bad("%s", g.ending())
	}
}

// ending describes how the server ended the reply.
func (g *accumulator) ending() string {
	if g.explanation != "" {
		return "the server ended the reply with " + g.finish + ": " + g.explanation
	}
	return "the server ended the reply with " + g.finish
}

// unfinished returns the error for a reply without a finish reason.
func (g *accumulator) unfinished() error {
	if g.Deltas == nil {
		return modelhttp.Bad("the server's reply has neither a candidate nor a finish reason")
	}
	return &model.Error{Kind: model.Truncated, Message: "the stream ended before the reply was complete: no finishReason"}
}

// withheld returns the text for the user instead of a filtered reply.
func (g *accumulator) withheld() string {
	what, reason := "the reply was withheld", g.finish
	if g.blocked != "" {
		what, reason = "the prompt was blocked", g.blocked
	}
	if g.explanation != "" {
		reason += ": " + g.explanation
	}
	return what + " (" + reason + ")"
}

// tokens converts usage; implausible counts are treated as missing. The API does not include thoughts in the reply's
// tokens, nor tool results in the prompt's.
func tokens(raw json.RawMessage) model.Tokens {
	var c counts
	if json.Unmarshal(raw, &c) != nil {
		return model.Tokens{}
	}
	if !modelhttp.Plausible(c.PromptTokenCount, c.ToolUsePromptTokenCount, c.CachedContentTokenCount, c.CandidatesTokenCount, c.ThoughtsTokenCount) {
		return model.Tokens{}
	}
	return model.Tokens{
		Input: int(c.PromptTokenCount + c.ToolUsePromptTokenCount), Output: int(c.CandidatesTokenCount + c.ThoughtsTokenCount),
		Cached: int(c.CachedContentTokenCount), Reasoning: int(c.ThoughtsTokenCount),
	}
}
