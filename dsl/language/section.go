package language

import (
	"sync"

	"github.com/pexctl/pex/dsl/config"
)

// Section is a place of the language with its keys; "" is the top level of a
// file.
type Section struct {
	path string
	keys []string
}

// SpecSections are the sections of a spec to search for misplaced keys.
var SpecSections = sync.OnceValue(func() []Section {
	return []Section{
		{"limits", config.KeysOf(Limits{})},
		{"an entry of llms", llmKeys},
		{"memory", config.KeysOf(Memory{})},
		{"memory.compaction", config.KeysOf(CompactionKeys{})},
		{"output", config.KeysOf(Output{})},
		{"metadata", config.KeysOf(Metadata{})},
		{"", config.KeysOf(Spec{})},
	}
})
