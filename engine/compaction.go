package engine

import (
	"github.com/pexctl/pex/engine/component"
)

// Compaction says how conversations are shortened before they are sent. The
// rules are tried in the order of the fields, each when its condition holds on
// what the ones before it left; nil = the rule was not written.
type Compaction struct {
	TruncateToolOutput *Truncation
	Summarize          *Summarization
	SlidingWindow      *Window
}

// Truncation cuts old tool outputs.
type Truncation struct {
	When     component.GuardRef
	MaxBytes int // what is kept of each, head and tail
}

// Summarization replaces the oldest pairs of a conversation by a summary.
type Summarization struct {
	When   component.GuardRef
	Keep   int                 // newest pairs that stay as they are
	LLM    string              // who sums up
	Prompt component.PromptRef // what it is told; zero = the node's own
}

// Window leaves out the oldest pairs of a conversation.
type Window struct {
	When component.GuardRef
	Keep int // newest pairs that stay
}

// Recap is a summary that stands for the beginning of a conversation.
type Recap struct {
	Of   string // a key made of what it stands for
	Text string
}

// Recap returns the summary of a key.
func (s State) Recap(of string) (Recap, bool) {
	for i := range s.Recaps {
		if s.Recaps[i].Of == of {
			return s.Recaps[i], true
		}
	}
	return Recap{}, false
}
