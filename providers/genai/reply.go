package genai

import (
	"encoding/json"
	"errors"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

const stopped = "STOP"

// errUnlucky says that the same request may well be answered the next time.
var errUnlucky = errors.New("the model missed the form of a call")

// reply makes the engine's reply of what came. A stream that ends without
// saying why the model stopped was cut.
func (g *gather) reply() (*model.Reply, error) {
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
	return g.Ended(out, nil)
}

// stop translates the reason why the model stopped. Only STOP ends a reply
// well; a word that is not known may mean that there is more to it.
func (g *gather) stop() (model.StopReason, error) {
	if g.blocked != "" && g.blocked != "BLOCKED_REASON_UNSPECIFIED" {
		if g.blocked == "MODEL_ARMOR" {
			return model.Guardrail, nil
		}
		return model.ContentFiltered, nil
	}
	switch g.finish {
	case "":
		return "", g.unfinished()
	case stopped, "STOP_SEQUENCE", "FUNCTION_CALL", "TOOL_CALL", "TOOL_CALLS": // of other servers, but for the first
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
		e.Err = errUnlucky
		return "", e
	default:
		return "", modelhttp.Bad("%s", g.ending())
	}
}

// ending says how the server ended the reply.
func (g *gather) ending() string {
	if g.why != "" {
		return "the server ended the reply with " + g.finish + ": " + g.why
	}
	return "the server ended the reply with " + g.finish
}

// unfinished is the error of a reply that has no end.
func (g *gather) unfinished() error {
	if g.Deltas == nil {
		return modelhttp.Bad("the server's answer has neither a candidate nor a reason why")
	}
	return &model.Error{Kind: model.Truncated, Message: "the stream ended before the reply did: no finishReason came"}
}

// withheld is what a person is told in place of a filtered reply.
func (g *gather) withheld() string {
	what, reason := "the reply was withheld", g.finish
	if g.blocked != "" {
		what, reason = "the prompt was blocked", g.blocked
	}
	if g.why != "" {
		reason += ": " + g.why
	}
	return what + " (" + reason + ")"
}

// tokens translates usage; nonsense counts as missing. The API counts thoughts
// beside the reply, and what its tools gave beside the prompt.
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
