package cassette

import (
	"errors"

	"github.com/pexctl/pex/engine/attachment"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// Cassette is the factory of the provider `cassette`.
var Cassette = component.New[Config, model.Settings, model.Model](
	"cassette",
	"Replies from a recording made by pexctl run --record or runs export, without network or key: a request gets the recorded reply to the same request. Requests are the same if role, step, messages, tools, schema and parameters are equal; the llm's model, if it is set, chooses between recorded models that were asked the same. A request that was not recorded fails, and the error tells how it differs from the nearest that was. Recorded failures come back as failures.",
	func() Config { return Config{} },
	Build,
)

// Config is the content of `options:`.
type Config struct {
	File   string `yaml:"file" required:"true" path:"file" doc:"Cassette file, relative to this file and within the project."`
	Repeat bool   `yaml:"repeat" doc:"Whether a request that is made more often than recorded gets its last reply again instead of an error. Each run starts from the beginning."`
}

// AnswersOffline implements model.Offline.
func (*Config) AnswersOffline() {}

var _ model.Multimodal = (*Config)(nil)

// FileSupport implements model.Multimodal. Recorded requests name their files by digest.
func (*Config) FileSupport(string) model.FileSupport {
	return model.FileSupport{Kinds: []model.FileKind{model.ImageFile, model.PDFFile}, Tokens: attachment.ClaudeTokens}
}

// Build returns a model that answers from a recording; it is a model.RunScoped and a
// model.Sequenced. The file is read on the first call.
func Build(c *Config, s model.Settings) (model.Model, error) {
	if c.File == "" {
		return nil, errors.New("the cassette has no file: set options.file")
	}
	return newPlayer(&chatModel{config: *c, settings: s}), nil
}
