package dsl

import (
	"sync"

	"github.com/pexctl/pex/dsl/config"
)

// home is a place of the language and the keys it has; "" is the top of a file.
type home struct {
	path string
	keys []string
}

// specHomes are where keys of a spec belong that people write elsewhere.
var specHomes = sync.OnceValue(func() []home {
	return []home{
		{"limits", config.KeysOf(limits{})},
		{"an entry of llms", llmKeys},
		{"memory", config.KeysOf(memory{})},
		{"memory.compaction", config.KeysOf(compactionKeys{})},
		{"output", config.KeysOf(output{})},
		{"metadata", config.KeysOf(metadata{})},
		{"", config.KeysOf(document{})},
	}
})
