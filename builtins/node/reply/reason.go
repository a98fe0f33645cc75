package reply

import "strings"

// reasonTags are the tags that models put around their reasoning.
var reasonTags = [...]string{
	"think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "analysis", "inner_monologue",
}

// reasonEnds separate reasoning and answer in other notations.
var reasonEnds = [...]string{"[/THINK]", "<|channel|>final<|message|>", "<|end_of_thought|>", "◁/think▷"}

// toolTags start a tool call that a model wrote as text.
var toolTags = [...]string{
	"<tool_call", "<toolcall", "<tool_use", "<use_tool", "<use_mcp_tool", "<function_call", "<function=", "<invoke",
	"<antml:", "<|tool", "<|python_tag|>", "<｜tool",
}

// reasoningEnd returns the index after the last end of reasoning, 0 if there is none.
func reasoningEnd(s string) int {
	end := 0
	for _, mark := range reasonEnds {
		if i := strings.LastIndex(s, mark); i >= 0 {
			end = max(end, i+len(mark))
		}
	}
	for i := strings.LastIndex(s, "</"); i >= 0; i = strings.LastIndex(s[:i], "</") {
		if n := closingTag(s[i:]); n > 0 {
			return max(end, i+n)
		}
	}
	return end
}

// closingTag returns the length of the tag at the start of s that ends reasoning, 0 if
// none.
func closingTag(s string) int {
	for _, tag := range reasonTags {
		if n := len(tag) + 3; len(s) >= n && s[n-1] == '>' && strings.EqualFold(s[2:n-1], tag) {
			return n
		}
	}
	return 0
}

// openingTag reports whether s starts with a tag that opens reasoning. s starts with "<".
func openingTag(s string) bool {
	for _, tag := range reasonTags {
		if n := len(tag) + 2; len(s) >= n && s[n-1] == '>' && strings.EqualFold(s[1:n-1], tag) {
			return true
		}
	}
	return false
}

// tag handles a "<". It returns false if reasoning is never closed, because then there is
// no answer.
func (s *search) tag() bool {
	rest := s.src[s.pos:]
	if openingTag(rest) {
		s.endCode, s.found = Truncated, nil
		return false
	}
	for _, tag := range toolTags {
		if len(rest) >= len(tag) && strings.EqualFold(rest[:len(tag)], tag) {
			s.tool = true
			break
		}
	}
	s.pos++
	return true
}
