package cassette

import (
	"errors"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// Cassette is the factory of the provider `cassette`.
var Cassette = component.New[Config, model.Settings, model.Model](
	"cassette",
	"Replies from a recording, made by pexctl run --record or runs export: a request gets the reply that the same request got there, without network or key. The same is who asks, for which step, what is said, the tools, the schema and the parameters; the llm's model, if it is set, chooses between recorded models that were asked the same. A request that was not recorded fails, and the error tells how it differs from the nearest that was. Recorded failures come back as failures.",
	func() Config { return Config{} },
	Build,
)

// Config is the content of `options:`.
type Config struct {
	File   string `yaml:"file" required:"true" path:"file" doc:"The recording; relative to the file that names it, within the project."`
	Repeat bool   `yaml:"repeat" doc:"Repeat the last reply for a request that is made more often than recorded, instead of failing. Each run starts from the beginning."`
}

// AnswersOffline implements model.Offline.
func (*Config) AnswersOffline() {}

// Build returns a model that answers from a recording; it is a model.RunScoped and a
// model.Sequenced. The file is read on the first call.
func Build(c *Config, s model.Settings) (model.Model, error) {
	if c.File == "" {
		return nil, errors.New("the cassette has no file: write options.file")
	}
	return newPlayer(&chatModel{config: *c, settings: s}), nil
}
