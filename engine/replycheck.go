package engine

import "fmt"

// checkReply warns of what a reply shows of its server.
func (s *Scope) checkReply(llm, role string, r *Reply) {
	if r.Uncounted {
		s.warnOnce("uncounted", llm, fmt.Sprintf("llm %s (%s): the server reports no token usage, so tokens and cost are estimated, and limits.max_tokens and "+
			"limits.max_cost are only as exact as that (characters / 4); --no-stream helps where a server counts whole replies only", llm, role))
	}
	if r.Sent > 0 {
		s.warnOnce("cut", llm, fmt.Sprintf("llm %s (%s): the server counted %d input tokens of a prompt of about %d, so it may have cut the prompt to its context window; "+
			"raise that window at the server (num_ctx of Ollama), or shorten the prompt", llm, role, r.Usage.Input, r.Sent))
	}
}

// warnOnce records a warning about an llm once in a whole tree of runs.
func (s *Scope) warnOnce(kind, llm, text string) {
	root := s.r.root()
	key := kind + " " + s.r.program.Name + " " + llm
	if root.warned[key] {
		return
	}
	if root.warned == nil {
		root.warned = map[string]bool{}
	}
	root.warned[key] = true
	s.Record(Warned{Text: text})
}
