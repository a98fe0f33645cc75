package dsl

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// Analyzer looks for one thing that is doubtful in a spec that compiles.
type Analyzer struct {
	Name  string      // lower_snake_case, as its file
	Codes []diag.Code // what it may report
	Run   func(*Pass)
}

// Pass is one spec for one analyzer. It is only for reading.
type Pass struct {
	Spec     *Spec
	Program  *engine.Program
	Analyzer *Analyzer
	// Uses are the names that templates, roles and tools refer to: "prompts.x",
	// "parameters.x", "llms.x".
	Uses   map[string]bool
	report *report
}

// Warn reports at a place, and returns the entry for a hint.
func (p *Pass) Warn(code diag.Code, at Place, format string, args ...any) *diag.Diagnostic {
	return p.report.warn(code, at.at, format, args...)
}

// Error is Warn for what makes the spec useless.
func (p *Pass) Error(code diag.Code, at Place, format string, args ...any) *diag.Diagnostic {
	return p.report.error(code, at.at, format, args...)
}

// analyze runs the analyzers of the options over a spec that compiled.
func (l *loader) analyze(c *compiler, s *Spec) {
	uses := map[string]bool{}
	for name := range c.used {
		uses[name] = true
	}
	for _, name := range c.usedLLMs {
		uses["llms."+name] = true
	}
	for i := range l.options.Analyzers {
		a := &l.options.Analyzers[i]
		a.Run(&Pass{Spec: s, Program: s.program, Analyzer: a, Uses: uses, report: l.report})
	}
}
