package dsl_test

import (
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
)

func TestCompactionIsOffUntilARuleIsWritten(t *testing.T) {
	for _, tt := range []struct {
		name, compaction string
		check            func(engine.Compaction) bool
	}{
		{"nothing", "", func(c engine.Compaction) bool { return c == engine.Compaction{} }},
		{"a rule alone has its defaults", "{summarize: }", func(c engine.Compaction) bool {
			r := c.Summarize
			return r != nil && c.SlidingWindow == nil && c.TruncateToolOutput == nil &&
				r.LLM == "main" && r.Keep == 6 && r.When.Source == "memory.tokens > 16000"
		}},
		{"what is written goes over them", "{sliding_window: {keep: 9}, truncate_tool_output: {when: 'memory.messages > 3'}}", func(c engine.Compaction) bool {
			return c.Summarize == nil && c.SlidingWindow.Keep == 9 && c.SlidingWindow.When.Source == "memory.tokens > 24000" &&
				c.TruncateToolOutput.When.Source == "memory.messages > 3" && c.TruncateToolOutput.MaxBytes == 2000
		}},
		{"an llm of its own", "{summarize: {temperature: 0}}", func(c engine.Compaction) bool {
			return c.Summarize.LLM == "main+memory.compaction.summarize"
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spec := head + "memory:\n  backend: none\n"
			if tt.compaction != "" {
				spec += "  compaction: " + tt.compaction + "\n"
			}
			c := compiled(t, spec).Memory.Compaction
			if !tt.check(c) {
				t.Errorf("it is %+v", c)
			}
			if r := c.Summarize; r != nil {
				if ok, err := r.When.Eval(map[string]any{"memory": exprenv.Memory{Tokens: 16001}}); !ok || err != nil {
					t.Errorf("the default condition gives %v, %v", ok, err)
				}
			}
		})
	}
}
