package inject

import (
	"context"
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Checked says what is wrong with an injection, or nil: not every fault fits
// every call.
func Checked(in dsl.Inject) error {
	switch in.Error {
	case dsl.InjectTimeout, dsl.Inject429, dsl.Inject500, dsl.InjectBadJSON:
		return nil
	case dsl.InjectTruncated, dsl.InjectRefusal:
		if in.Tool != "" {
			return fmt.Errorf("inject: a tool cannot fail by %s: there are timeout, 429, 500 and bad_json", in.Error)
		}
		return nil
	}
	return fmt.Errorf("inject: there is no error %q: there are timeout, 429, 500, bad_json, truncated and refusal", string(in.Error))
}

// modelError is the fault of a model call that gets no reply; nil = it gets one
// that is spoiled.
func modelError(kind dsl.InjectedError) *model.Error {
	switch kind {
	case dsl.InjectTimeout:
		return &model.Error{Kind: model.CallTimeout, Message: "injected: no reply in time"}
	case dsl.Inject429:
		return &model.Error{Kind: model.RateLimited, Status: 429, Message: "injected: too many requests"}
	case dsl.Inject500:
		return &model.Error{Kind: model.ServerError, Status: 500, Message: "injected: the server failed"}
	case dsl.InjectBadJSON, dsl.InjectTruncated, dsl.InjectRefusal:
	}
	return nil
}

// badJSON is a reply, and a result, that no parser takes for JSON.
const badJSON = "injected: this is no JSON }{"

// spoiled is a reply with a fault. A spoiled reply stays as it is: what was
// recorded under the same fault replays.
func spoiled(kind dsl.InjectedError, r *model.Reply) *model.Reply {
	out := *r
	switch kind {
	case dsl.InjectBadJSON:
		out.Text, out.Calls, out.Stop = badJSON, nil, model.EndTurn
	case dsl.InjectTruncated:
		if r.Stop != model.MaxTokens {
			out.Text, out.Calls, out.Stop = half(r.Text), nil, model.MaxTokens
		}
	case dsl.InjectRefusal:
		out.Text, out.Calls, out.Stop = "injected: I cannot help with that.", nil, model.Refusal
	case dsl.InjectTimeout, dsl.Inject429, dsl.Inject500:
	}
	return &out
}

func half(s string) string { return strings.ToValidUTF8(s[:len(s)/2], "") }

// toolFault is what a tool gives in place of its result.
func toolFault(kind dsl.InjectedError) (*tool.Output, error) {
	switch kind {
	case dsl.InjectTimeout:
		return nil, fmt.Errorf("injected: no answer in time: %w", context.DeadlineExceeded)
	case dsl.Inject429:
		return nil, fmt.Errorf("injected: 429 Too Many Requests")
	case dsl.Inject500:
		return nil, fmt.Errorf("injected: 500 Internal Server Error")
	default:
		return &tool.Output{Text: badJSON}, nil
	}
}
