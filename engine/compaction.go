package engine

import (
	"github.com/pexctl/pex/engine/component"
)

// Compaction configures how conversations are shortened before they are sent. The rules
// are applied in the order of the fields, each if its condition holds after the ones
// before it; nil = no rule.
type Compaction struct {
	TruncateToolOutput *Truncation
	Summarize          *Summarization
	SlidingWindow      *Window
}

// Truncation shortens old tool outputs.
type Truncation struct {
	When     component.GuardRef
	MaxBytes int // kept of each output, head and tail
}

// Summarization replaces the oldest pairs of a conversation with a summary.
type Summarization struct {
	When   component.GuardRef
	Keep   int                 // newest pairs kept unchanged
	LLM    string              // LLM that writes the summary
	Prompt component.PromptRef // zero = the node's default
}

// Window drops the oldest pairs of a conversation.
type Window struct {
	When component.GuardRef
	Keep int // newest pairs kept
}

// Recap is a summary that replaces the start of a conversation.
type Recap struct {
	Of   string // key derived from what it replaces
	Text string
}

// Recap returns the summary with a key.
func (s *State) Recap(of string) (Recap, bool) {
	for i := range s.Recaps {
		if s.Recaps[i].Of == of {
			return s.Recaps[i], true
		}
	}
	return Recap{}, false
}
