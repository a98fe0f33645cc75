package language

import "github.com/pexctl/pex/engine/component"

// CompactionKeys is the section memory.compaction, in the order in which its
// rules apply.
type CompactionKeys struct {
	TruncateToolOutput *TruncationKeys    `yaml:"truncate_tool_output" doc:"Shortens old tool outputs to their head and tail. Outputs of the newest turn stay complete."`
	Summarize          *SummarizationKeys `yaml:"summarize" doc:"Replaces the oldest pairs with a summary written by a model (role summarizer). The plan and the status of each step stay verbatim. If it fails, the run gets a warning and nothing is replaced."`
	SlidingWindow      *WindowKeys        `yaml:"sliding_window" doc:"Drops the oldest pairs."`
}

// TruncationKeys is a rule of memory.compaction.
type TruncationKeys struct {
	When     component.GuardRef `yaml:"when" env:"@compaction" doc:"When to apply the rule. memory.tokens estimates the request as characters / 4. memory.messages counts its messages; for planner, reflector and finalizer it counts two for each earlier turn and step in the prompt."`
	MaxBytes int                `yaml:"max_bytes" min:"200" doc:"Bytes of an output to keep."`
}

// SummarizationKeys is a rule of memory.compaction.
type SummarizationKeys struct {
	LLM    component.ModelRef  `yaml:"llm" doc:"The LLM that writes the summary. Default: the planner's."`
	When   component.GuardRef  `yaml:"when" env:"@compaction" doc:"When to apply the rule."`
	Keep   int                 `yaml:"keep" min:"1" doc:"The number of newest pairs to keep unchanged. A pair is a question and its answer, a step and its result, or a turn of a step with the results of its tool calls."`
	Prompt component.PromptRef `yaml:"prompt" vars:"parameters,@system" doc:"The prompt for the summary. The default asks for short notes of everything still needed."`
}

// WindowKeys is a rule of memory.compaction.
type WindowKeys struct {
	When component.GuardRef `yaml:"when" env:"@compaction" doc:"When to apply the rule."`
	Keep int                `yaml:"keep" min:"1" doc:"The number of newest pairs to keep unchanged."`
}

// SetDefaults sets the limits for a context of 32,000 tokens, with room for a
// reply.
func (k *TruncationKeys) SetDefaults() {
	*k = TruncationKeys{When: component.GuardRef{Source: "memory.tokens > 8000"}, MaxBytes: 2000}
}

// SetDefaults sets the limits for a context of 32,000 tokens.
func (k *SummarizationKeys) SetDefaults() {
	*k = SummarizationKeys{When: component.GuardRef{Source: "memory.tokens > 16000"}, Keep: 6}
}

// SetDefaults sets the limits for a context of 32,000 tokens.
func (k *WindowKeys) SetDefaults() {
	*k = WindowKeys{When: component.GuardRef{Source: "memory.tokens > 24000"}, Keep: 3}
}
