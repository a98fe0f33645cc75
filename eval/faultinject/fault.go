package faultinject

import (
	"context"
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// Validate returns an error if an injection has an unknown fault, or one that does not fit its call.
func Validate(in testspec.Inject) error {
	switch in.Error {
	case testspec.InjectTimeout, testspec.Inject429, testspec.Inject500, testspec.InjectBadJSON:
		return nil
	case testspec.InjectTruncated, testspec.InjectRefusal:
		if in.Tool != "" {
			return fmt.Errorf("inject: a tool cannot fail with %s: use timeout, 429, 500 or bad_json", in.Error)
		}
		return nil
	}
	return fmt.Errorf("inject: unknown error %q: use timeout, 429, 500, bad_json, truncated or refusal", string(in.Error))
}

// modelError returns the error of a failed model call, or nil for faults that modify the reply instead.
func modelError(kind testspec.InjectedError) *model.Error {
	switch kind {
	case testspec.InjectTimeout:
		return &model.Error{Kind: model.CallTimeout, Message: "injected: no reply in time"}
	case testspec.Inject429:
		return &model.Error{Kind: model.RateLimited, Status: 429, Message: "injected: too many requests"}
	case testspec.Inject500:
		return &model.Error{Kind: model.ServerError, Status: 500, Message: "injected: the server failed"}
	case testspec.InjectBadJSON, testspec.InjectTruncated, testspec.InjectRefusal:
	}
	return nil
}

// badJSON is a reply or result that is not JSON.
const badJSON = "injected: this is no JSON }{"

// applyFault returns a reply with a fault. It is idempotent, so a recording made with the same fault replays.
func applyFault(kind testspec.InjectedError, r *model.Reply) *model.Reply {
	out := *r
	switch kind {
	case testspec.InjectBadJSON:
		out.Text, out.Calls, out.Stop = badJSON, nil, model.EndTurn
	case testspec.InjectTruncated:
		if r.Stop != model.MaxTokens {
			out.Text, out.Calls, out.Stop = half(r.Text), nil, model.MaxTokens
		}
	case testspec.InjectRefusal:
		out.Text, out.Calls, out.Stop = "injected: I cannot help with that.", nil, model.Refusal
	case testspec.InjectTimeout, testspec.Inject429, testspec.Inject500:
	}
	return &out
}

func half(s string) string { return strings.ToValidUTF8(s[:len(s)/2], "") }

// toolFault returns the output or error of a tool call with a fault.
func toolFault(kind testspec.InjectedError) (*tool.Output, error) {
	switch kind {
	case testspec.InjectTimeout:
		return nil, fmt.Errorf("injected: no answer in time: %w", context.DeadlineExceeded)
	case testspec.Inject429:
		return nil, fmt.Errorf("injected: 429 Too Many Requests")
	case testspec.Inject500:
		return nil, fmt.Errorf("injected: 500 Internal Server Error")
	default:
		return &tool.Output{Text: badJSON}, nil
	}
}
