package bleve

import (
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/folder"
)

// Config configures the retrieve tool.
type Config struct {
	Root       string           `yaml:"root" path:"relative" doc:"Folder whose files are searched; relative to the file that names it. Default: the spec's folder."`
	Pattern    string           `yaml:"pattern" doc:"Which files are searched, seen from root: * and ? within a name, ** for any folders, {a,b} for either."`
	Exclude    []string         `yaml:"exclude" doc:"Names of files and folders that are not searched at any depth, with * as in a shell."`
	Language   string           `yaml:"language" enum:"standard|en|de|es|fr|it|nl|pt" doc:"Whose word forms count as one word; texts in others are found too. standard: words as they are written, but for capitals and accents."`
	TopK       int              `yaml:"top_k" min:"1" max:"50" doc:"How many passages a call gives that does not say how many it wants."`
	Chunk      ChunkConfig      `yaml:"chunk" doc:"How files are cut into passages. Headings begin a passage; paragraphs and code blocks are cut only when they do not fit into one."`
	Embeddings EmbeddingsConfig `yaml:"embeddings" doc:"Searches by meaning too: with vectors that an llm of the spec makes of the passages, which are sent to it. Left out: by words alone."`
}

// Reaches implements tool.AccessDescriber: only the LLM is reached, which declares that
// itself.
func (*Config) Reaches() []string { return nil }

// ReadsFiles implements tool.FileReader.
func (c *Config) ReadsFiles() (root string, given bool) { return c.Root, false }

// Asks implements engine.BoundedTool: embeddings of the passages and of each query. Their
// amount depends on the files.
func (c *Config) Asks() []engine.Ask {
	if c.Embeddings.LLM.Name == "" || c.Embeddings.Weight == 0 {
		return nil
	}
	return []engine.Ask{{Role: "vectors", LLM: c.Embeddings.LLM.Name, Vectors: true}}
}

// ChunkConfig configures how files are split.
type ChunkConfig struct {
	Size    int `yaml:"size" min:"100" max:"8000" doc:"The longest passage, in characters."`
	Lines   int `yaml:"lines" min:"0" max:"500" doc:"The longest passage in lines, instead of size. 0 = size counts."`
	Overlap int `yaml:"overlap" min:"0" max:"4000" doc:"How many characters of the end of a passage the next one may begin with, in whole lines."`
}

// EmbeddingsConfig configures the search by embeddings.
type EmbeddingsConfig struct {
	LLM    component.ModelRef `yaml:"llm" doc:"The llm that makes vectors, by name. Its provider has to have embeddings: openai, azure_openai, mistral, ollama."`
	Weight float64            `yaml:"weight" min:"0" max:"1" doc:"How much meaning counts against words: 0 = words alone, 1 = meaning alone."`
}

// defaults: 1,200 characters are about 300 tokens, a section of a page; five of them
// leave most of a context window free.
func defaults() Config {
	return Config{
		Pattern: "**/*.{md,markdown,mdx,rst,adoc,asciidoc,org,txt,text}", Exclude: folder.Hidden(), Language: "en", TopK: 5,
		Chunk: ChunkConfig{Size: 1200, Overlap: 150}, Embeddings: EmbeddingsConfig{Weight: 0.5},
	}
}

// check finds contradictory settings.
func (c *Config) check() (out component.Faults) {
	if _, err := folder.ParseGlob(c.Pattern); err != nil {
		out = append(out, component.Fault{At: "/pattern", Message: err.Error()})
	} else if c.Pattern == "" {
		out = append(out, component.Fault{At: "/pattern", Message: "the pattern is empty", Hint: "leave it out, or write for example **/*.md"})
	}
	if c.Chunk.Lines == 0 && c.Chunk.Overlap > c.Chunk.Size/2 {
		out = append(out, component.Fault{
			At:      "/chunk/overlap",
			Message: fmt.Sprintf("passages of %d characters cannot share %d with the one before", c.Chunk.Size, c.Chunk.Overlap),
			Hint:    "half of the size is the most",
		})
	}
	return out
}
