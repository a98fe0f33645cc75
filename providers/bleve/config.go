package bleve

import (
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// Config configures the retrieve tool.
type Config struct {
	Root       string           `yaml:"root" path:"relative" doc:"Folder whose files are searched, relative to this file. Default: the spec's folder."`
	Pattern    string           `yaml:"pattern" doc:"Glob pattern of the files, relative to root: * and ? match within a name, ** matches any folders, {a,b} matches either."`
	Exclude    []string         `yaml:"exclude" doc:"Names of files and folders that are not searched, at any depth. Shell wildcards such as * are allowed."`
	Language   string           `yaml:"language" enum:"standard|en|de|es|fr|it|nl|pt" doc:"Language whose inflected word forms match each other. Texts in other languages are found too. standard: exact words, ignoring case and accents."`
	TopK       int              `yaml:"top_k" min:"1" max:"50" doc:"Default number of passages per call."`
	Chunk      ChunkConfig      `yaml:"chunk" doc:"How files are split into passages. A heading starts a passage; paragraphs and code blocks are split only if they are too long for one."`
	Embeddings EmbeddingsConfig `yaml:"embeddings" doc:"Adds semantic search with embeddings of an llm of the spec; the passages are sent to it. Default: full-text search only."`
}

// Access implements tool.AccessDescriber: only the LLM is reached, which declares that
// itself.
func (*Config) Access() []string { return nil }

// NeedsHost implements tool.HostBound.
func (c *Config) NeedsHost() string { return tool.FilesBelow(c.Root) }

// ReadsFiles implements tool.FileReader.
func (c *Config) ReadsFiles() (root string, given bool) { return c.Root, false }

// WorstCase implements engine.BoundedTool: embeddings of the passages and of each query. Their
// amount depends on the files.
func (c *Config) WorstCase() []engine.CallBound {
	if c.Embeddings.LLM.Name == "" || c.Embeddings.Weight == 0 {
		return nil
	}
	return []engine.CallBound{{Role: "vectors", LLM: c.Embeddings.LLM.Name, Vectors: true}}
}

// ChunkConfig configures how files are split.
type ChunkConfig struct {
	Size    int `yaml:"size" min:"100" max:"8000" doc:"Maximum passage length in characters."`
	Lines   int `yaml:"lines" min:"0" max:"500" doc:"Maximum passage length in lines, instead of size. 0: use size."`
	Overlap int `yaml:"overlap" min:"0" max:"4000" doc:"Maximum overlap of consecutive passages in characters, in whole lines."`
}

// EmbeddingsConfig configures the search by embeddings.
type EmbeddingsConfig struct {
	LLM    component.ModelRef `yaml:"llm" doc:"Name of the llm that creates embeddings. Its provider must support them: openai, azure_openai, mistral, ollama."`
	Weight float64            `yaml:"weight" min:"0" max:"1" doc:"Weight of semantic search: 0 is full-text only, 1 is semantic only."`
}

// defaults: 1,200 characters are about 300 tokens, a section of a page; five of them
// leave most of a context window free.
func defaults() Config {
	return Config{
		Pattern: "**/*.{md,markdown,mdx,rst,adoc,asciidoc,org,txt,text}", Exclude: sandboxfs.Hidden(), Language: "en", TopK: 5,
		Chunk: ChunkConfig{Size: 1200, Overlap: 150}, Embeddings: EmbeddingsConfig{Weight: 0.5},
	}
}

// check finds contradictory settings.
func (c *Config) check() (out component.Faults) {
	if _, err := sandboxfs.ParseGlob(c.Pattern); err != nil {
		out = append(out, component.Fault{At: "/pattern", Message: err.Error()})
	} else if c.Pattern == "" {
		out = append(out, component.Fault{At: "/pattern", Message: "the pattern is empty", Hint: "leave it out, or write for example **/*.md"})
	}
	if c.Chunk.Lines == 0 && c.Chunk.Overlap > c.Chunk.Size/2 {
		out = append(out, component.Fault{
			At:      "/chunk/overlap",
			Message: fmt.Sprintf("overlap %d is more than half of size %d", c.Chunk.Overlap, c.Chunk.Size),
			Hint:    fmt.Sprintf("set overlap to at most %d", c.Chunk.Size/2),
		})
	}
	return out
}
