package dsl

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// compactionKeys is the section memory.compaction, in the order in which its
// rules are tried.
type compactionKeys struct {
	TruncateToolOutput *truncationKeys    `yaml:"truncate_tool_output" doc:"Old tool outputs keep their head and tail; those of the newest turn stay whole."`
	Summarize          *summarizationKeys `yaml:"summarize" doc:"The oldest pairs are replaced by a summary that a model writes (role summarizer). The plan and what became of each step stay word for word. A failure is a warning, and nothing is replaced."`
	SlidingWindow      *windowKeys        `yaml:"sliding_window" doc:"The oldest pairs are left out."`
}

type truncationKeys struct {
	When     component.GuardRef `yaml:"when" env:"@compaction" doc:"When it is done. memory.tokens is an estimate of the request, characters / 4; memory.messages counts its messages, for planner, reflector and finalizer two for each earlier turn and step that they are shown."`
	MaxBytes int                `yaml:"max_bytes" min:"200" doc:"What is kept of an output."`
}

type summarizationKeys struct {
	LLM    component.ModelRef  `yaml:"llm" doc:"The llm that sums up; the planner's by default."`
	When   component.GuardRef  `yaml:"when" env:"@compaction" doc:"When it is done."`
	Keep   int                 `yaml:"keep" min:"1" doc:"The newest pairs, which stay as they are. A pair is a question and its answer, a step and its result, or a turn of a step with the results of its calls."`
	Prompt component.PromptRef `yaml:"prompt" vars:"parameters,@system" doc:"What the model is told; the default asks for short notes of all that the work still needs."`
}

type windowKeys struct {
	When component.GuardRef `yaml:"when" env:"@compaction" doc:"When it is done."`
	Keep int                `yaml:"keep" min:"1" doc:"The newest pairs, which stay as they are."`
}

// The bounds are those of a context of 32,000 tokens, with room for a reply.
func (k *truncationKeys) SetDefaults() {
	*k = truncationKeys{When: component.GuardRef{Source: "memory.tokens > 8000"}, MaxBytes: 2000}
}

func (k *summarizationKeys) SetDefaults() {
	*k = summarizationKeys{When: component.GuardRef{Source: "memory.tokens > 16000"}, Keep: 6}
}

func (k *windowKeys) SetDefaults() {
	*k = windowKeys{When: component.GuardRef{Source: "memory.tokens > 24000"}, Keep: 3}
}

// compaction reads how long conversations are shortened. It needs the roles'
// llms: the planner's is the default.
func (c *compiler) compaction() {
	v := c.doc.Memory.Compaction
	if v == nil {
		return
	}
	if v.Kind == syntax.List {
		c.WrongType(v, "memory.compaction", "a mapping").Hint = "write each rule under its name: summarize: {when: ...}"
		return
	}
	var k compactionKeys
	before := len(c.Report.List)
	c.Decode(v, "memory.compaction", &k)
	if len(v.Entries) == 0 && !c.Report.FailedSince(before) {
		c.Report.Error(diag.MissingKey, v.Position, "memory.compaction has no rule").
			Hint = "write summarize: {}, truncate_tool_output: {} or sliding_window: {}"
	}
	var out engine.Compaction
	if r := k.TruncateToolOutput; r != nil {
		out.TruncateToolOutput = &engine.Truncation{When: r.When, MaxBytes: r.MaxBytes}
	}
	if r := k.Summarize; r != nil {
		out.Summarize = &engine.Summarization{When: r.When, Keep: r.Keep, LLM: r.LLM.Name, Prompt: r.Prompt}
	}
	if r := k.SlidingWindow; r != nil {
		out.SlidingWindow = &engine.Window{When: r.When, Keep: r.Keep}
	}
	c.program.Memory.Compaction = out
}
