package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// embeds returns the identity on which an LLM's vectors depend, or why it makes none.
type embeds func(llm string) (identity string, err error)

// embedders returns the LLMs that can make embeddings.
func embedders(models map[string]model.Model) map[string]model.Embedder {
	out := map[string]model.Embedder{}
	for name, m := range models {
		if e, ok := m.(model.Embedder); ok {
			out[name] = e
		}
	}
	return out
}

// embedsOf returns the embeds of a program. models has the LLMs that may be called.
func embedsOf(p *engine.Program, models map[string]model.Model) embeds {
	return func(llm string) (string, error) {
		i := slices.IndexFunc(p.Models, func(m engine.ModelSpec) bool { return m.Name == llm })
		if i < 0 {
			return "", fmt.Errorf("unknown LLM %s", llm)
		}
		spec := &p.Models[i]
		identity := strings.Join([]string{spec.Provider, spec.Params.Model, spec.BaseURL.Text}, "\n")
		m, ok := models[llm]
		if !ok {
			return identity, fmt.Errorf("the llm %s is not asked here, since this works without a network", llm)
		}
		if _, ok := m.(model.Embedder); !ok {
			return identity, fmt.Errorf("llm %s cannot create embeddings: provider %s does not support them; use openai, azure_openai, mistral or ollama", llm, spec.Provider)
		}
		return identity, nil
	}
}
