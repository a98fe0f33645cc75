package model

import (
	"strconv"
	"unicode/utf8"
)

// EstimateTokens is the estimate used where a provider reports no usage:
// characters / 4, rounded up.
func EstimateTokens(chars int) int { return (chars + 3) / 4 }

// Estimate is about how many tokens a request takes in: for rate limits, and
// for usage that nobody reports.
func (r *Request) Estimate() int {
	n := 0
	for _, m := range r.Messages {
		for _, s := range m.Text {
			n += utf8.RuneCountInString(s)
		}
		n += letters(m.Calls)
	}
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Input)
	}
	return EstimateTokens(n)
}

// Estimate is about how many tokens a reply has.
func (r *Reply) Estimate() int {
	return EstimateTokens(utf8.RuneCountInString(r.Text) + letters(r.Calls))
}

// Reported is the tokens that the provider counted; 0 where they are estimated,
// which tells a rate limit nothing new.
func (r *Reply) Reported() int {
	if r.Estimated {
		return 0
	}
	return r.Usage.Total()
}

func letters(calls []ToolCall) int {
	n := 0
	for _, c := range calls {
		n += len(c.Name) + utf8.RuneCount(c.Args)
	}
	return n
}

// Identify gives calls that a model replies to r, and that have no id or one
// that the conversation has already, the next free of call_0, call_1, ...
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
