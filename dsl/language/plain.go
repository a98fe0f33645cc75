package language

import (
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Plain is the config.Language of files without LLMs, agents and prompts.
type Plain struct {
	Catalog  *engine.Catalog
	Sections []Section // sections for misplaced keys
}

var _ config.Language = Plain{}

// ModelRef leaves a reference empty.
func (Plain) ModelRef(*syntax.Node, config.Field, *syntax.Node, string) {}

// ModelKeys returns the keys of an LLM.
func (Plain) ModelKeys() []string { return llmKeys }

// AgentRef leaves a reference empty.
func (Plain) AgentRef(*syntax.Node, string, *component.AgentRef) {}

// KeyAdvice returns a suggestion for an unknown key.
func (p Plain) KeyAdvice(e *syntax.Entry, path string, all []string) diag.Advice {
	return KeyAdvice(e, path, all, p.Catalog, p.Sections)
}

// NamedPrompts returns nil.
func (Plain) NamedPrompts() *syntax.Node { return nil }

// Library returns false.
func (Plain) Library() bool { return false }
