package reply

import "strings"

// reasonTags are the tags models put around their thinking.
var reasonTags = [...]string{
	"think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "analysis", "inner_monologue",
}

// reasonEnds are what stands between thinking and answer in other notations.
var reasonEnds = [...]string{"[/THINK]", "<|channel|>final<|message|>", "<|end_of_thought|>", "◁/think▷"}

// toolTags begin a tool call that a model wrote as text.
var toolTags = [...]string{
	"<tool_call", "<toolcall", "<tool_use", "<use_tool", "<use_mcp_tool", "<function_call", "<function=", "<invoke",
	"<antml:", "<|tool", "<|python_tag|>", "<｜tool",
}

// reasoningEnd is where the answer begins behind the last end of reasoning; 0
// is a text without one.
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

// closingTag is the length of the tag that ends reasoning at s.
func closingTag(s string) int {
	for _, tag := range reasonTags {
		if n := len(tag) + 3; len(s) >= n && s[n-1] == '>' && strings.EqualFold(s[2:n-1], tag) {
			return n
		}
	}
	return 0
}

// openingTag says whether reasoning begins at s, which begins with "<".
func openingTag(s string) bool {
	for _, tag := range reasonTags {
		if n := len(tag) + 2; len(s) >= n && s[n-1] == '>' && strings.EqualFold(s[1:n-1], tag) {
			return true
		}
	}
	return false
}

// tag looks at a "<". Reasoning that is never closed never came to an answer.
func (s *search) tag() bool {
	rest := s.src[s.pos:]
	if openingTag(rest) {
		s.ended, s.found = Truncated, nil
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
