package model

import (
	"strconv"
	"unicode/utf8"
)

// EstimateTokens estimates tokens where a provider reports no usage: characters / 4,
// rounded up.
func EstimateTokens(chars int) int { return (chars + 3) / 4 }

// Estimate estimates the input tokens of a request, for rate limits and unreported usage.
func (r *Request) Estimate() int {
	n, files := 0, 0
	for _, m := range r.Messages {
		for i := range m.Attachments {
			files += m.Attachments[i].Tokens
		}
		for _, s := range m.Text {
			n += utf8.RuneCountInString(s)
		}
		n += callChars(m.Calls)
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Input)
	}
	return EstimateTokens(n) + files
}

// Estimate estimates the tokens of a reply.
func (r *Reply) Estimate() int {
	return EstimateTokens(utf8.RuneCountInString(r.Text) + callChars(r.Calls))
}

// Reported returns the tokens counted by the provider; 0 if they are estimated.
func (r *Reply) Reported() int {
	if r.Estimated {
		return 0
	}
	return r.Usage.Total()
}

func callChars(calls []ToolCall) int {
	n := 0
	for _, c := range calls {
		n += len(c.Name) + utf8.RuneCount(c.Args)
	}
	return n
}

// Identify assigns ids call_0, call_1, ... to calls of a reply without an id, or with one
// that the conversation already has.
func (r *Request) Identify(calls []ToolCall) {
	taken, next := map[string]bool{}, 0
	for _, m := range r.Messages {
		for _, c := range m.Calls {
			taken[c.ID] = true
			next++
		}
	}
	for i := range calls {
		id := calls[i].ID
		for id == "" || id == "null" || taken[id] {
			id = "call_" + strconv.Itoa(next)
			next++
		}
		taken[id] = true
		calls[i].ID = id
	}
}
