package language

import (
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// Plain is the config.Language of files that name no llms, agents or prompts.
type Plain struct {
	Catalog  *engine.Catalog
	Sections []Section // where keys belong that are in the wrong place
}

var _ config.Language = Plain{}

// ModelRef leaves a reference empty.
func (Plain) ModelRef(*syntax.Node, config.Field, *syntax.Node, string) {}

// ModelKeys are the keys of an llm.
func (Plain) ModelKeys() []string { return llmKeys }

// AgentRef leaves a reference empty.
func (Plain) AgentRef(*syntax.Node, string, *component.AgentRef) {}

// KeyAdvice suggests what to write for a key that does not exist.
func (p Plain) KeyAdvice(e *syntax.Entry, path string, all []string) diag.Advice {
	return KeyAdvice(e, path, all, p.Catalog, p.Sections)
}

// NamedPrompts are none.
func (Plain) NamedPrompts() *syntax.Node { return nil }

// Library is false.
func (Plain) Library() bool { return false }
