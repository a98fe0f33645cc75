package language

import "github.com/pexctl/pex/engine/component"

// CompactionKeys is the section memory.compaction, in the order in which its
// rules are tried.
type CompactionKeys struct {
	TruncateToolOutput *TruncationKeys    `yaml:"truncate_tool_output" doc:"Old tool outputs keep their head and tail; those of the newest turn stay whole."`
	Summarize          *SummarizationKeys `yaml:"summarize" doc:"The oldest pairs are replaced by a summary that a model writes (role summarizer). The plan and what became of each step stay word for word. A failure is a warning, and nothing is replaced."`
	SlidingWindow      *WindowKeys        `yaml:"sliding_window" doc:"The oldest pairs are left out."`
}

// TruncationKeys is a rule of memory.compaction.
type TruncationKeys struct {
	When     component.GuardRef `yaml:"when" env:"@compaction" doc:"When it is done. memory.tokens is an estimate of the request, characters / 4; memory.messages counts its messages, for planner, reflector and finalizer two for each earlier turn and step that they are shown."`
	MaxBytes int                `yaml:"max_bytes" min:"200" doc:"What is kept of an output."`
}

// SummarizationKeys is a rule of memory.compaction.
type SummarizationKeys struct {
	LLM    component.ModelRef  `yaml:"llm" doc:"The llm that sums up; the planner's by default."`
	When   component.GuardRef  `yaml:"when" env:"@compaction" doc:"When it is done."`
	Keep   int                 `yaml:"keep" min:"1" doc:"The newest pairs, which stay as they are. A pair is a question and its answer, a step and its result, or a turn of a step with the results of its calls."`
	Prompt component.PromptRef `yaml:"prompt" vars:"parameters,@system" doc:"What the model is told; the default asks for short notes of all that the work still needs."`
}

// WindowKeys is a rule of memory.compaction.
type WindowKeys struct {
	When component.GuardRef `yaml:"when" env:"@compaction" doc:"When it is done."`
	Keep int                `yaml:"keep" min:"1" doc:"The newest pairs, which stay as they are."`
}

// SetDefaults sets the bounds for a context of 32,000 tokens, with room for a reply.
func (k *TruncationKeys) SetDefaults() {
	*k = TruncationKeys{When: component.GuardRef{Source: "memory.tokens > 8000"}, MaxBytes: 2000}
}

// SetDefaults sets the bounds for a context of 32,000 tokens.
func (k *SummarizationKeys) SetDefaults() {
	*k = SummarizationKeys{When: component.GuardRef{Source: "memory.tokens > 16000"}, Keep: 6}
}

// SetDefaults sets the bounds for a context of 32,000 tokens.
func (k *WindowKeys) SetDefaults() {
	*k = WindowKeys{When: component.GuardRef{Source: "memory.tokens > 24000"}, Keep: 3}
}
