package dsl

import "sync"

// home is a place of the language and the keys it has; "" is the top of a file.
type home struct {
	path string
	keys []string
}

// specHomes are where keys of a spec belong that people write elsewhere.
var specHomes = sync.OnceValue(func() []home {
	return []home{
		{"limits", structKeys(limits{})},
		{"an entry of llms", llmKeys},
		{"memory", structKeys(memory{})},
		{"memory.compaction", structKeys(compactionKeys{})},
		{"output", structKeys(output{})},
		{"metadata", structKeys(metadata{})},
		{"", structKeys(document{})},
	}
})
