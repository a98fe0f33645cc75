package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
)

// embedders finds an llm that makes vectors, and says what they depend on.
type embedders func(llm string) (e engine.Embedder, identity string, err error)

// embeddersOf finds them among a program's llms, of which models holds those
// that may be asked.
func embeddersOf(p *engine.Program, models map[string]engine.Model) embedders {
	return func(llm string) (engine.Embedder, string, error) {
		i := slices.IndexFunc(p.Models, func(m engine.ModelSpec) bool { return m.Name == llm })
		if i < 0 {
			return nil, "", fmt.Errorf("there is no llm %s", llm)
		}
		spec := &p.Models[i]
		identity := strings.Join([]string{spec.Provider, spec.Params.Model, spec.BaseURL.Text}, "\n")
		m, ok := models[llm]
		if !ok {
			return nil, identity, fmt.Errorf("the llm %s is not asked here, since this works without a network", llm)
		}
		e, ok := m.(engine.Embedder)
		if !ok {
			return nil, identity, fmt.Errorf("the llm %s makes no vectors: its provider %s has no embeddings here; openai, azure_openai, mistral and ollama have", llm, spec.Provider)
		}
		return e, identity, nil
	}
}
