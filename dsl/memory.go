package dsl

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
)

// compaction reads the rules for shortening long conversations. It needs the LLMs
// of the roles: the planner's is the default.
func (c *compiler) compaction() {
	v := c.doc.Memory.Compaction
	if v == nil {
		return
	}
	if v.Kind == syntax.List {
		c.WrongType(v, "memory.compaction", "a mapping").Hint = "write each rule as a key: summarize: {when: ...}"
		return
	}
	var k language.CompactionKeys
	before := len(c.Report.List)
	c.Decode(v, "memory.compaction", &k)
	if len(v.Entries) == 0 && !c.Report.FailedSince(before) {
		c.Report.Error(diag.MissingKey, v.Position, "memory.compaction has no rules").
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

// memoryStore checks that the store of conversations has an address if it needs one.
func (c *compiler) memoryStore() {
	if m := &c.doc.Memory; m.Backend == "postgres" && m.DSNEnv == "" {
		c.Report.Error(diag.MissingKey, c.tree.Get("memory").Get("backend").Position, "memory.backend is postgres, but memory.dsn_env is missing").
			Hint = "write dsn_env: NAME, the environment variable that has the address of the database"
	}
}
