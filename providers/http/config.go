package http

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// HTTP is the factory of the provider `http`.
var HTTP = component.New[Config, model.Settings, model.Model](
	"http",
	"Any model behind an HTTP endpoint: a request template and a response filter, or the wire format of a known interface. It does not stream; without llm_interface it has no tool calls (executor.mode: react_text does without).",
	func() Config { return Config{Method: "POST"} },
	Build,
)

// Config is the content of `options:`.
type Config struct {
	URL              component.Template            `yaml:"url" vars:"args,env" doc:"Where the model is asked, such as https://host/models/${args.model}/predict; what begins with / stands below base_url. Values are escaped. Default: base_url, with the path of llm_interface behind it."`
	Method           string                        `yaml:"method" enum:"POST|PUT|PATCH|GET" doc:"How it is asked; POST by default. GET requests have no body."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request, such as x-goog-api-key: ${env.GEMINI_API_KEY}."`
	Auth             string                        `yaml:"auth" enum:"none|bearer|basic" doc:"How the key of api_key_env is sent: as a bearer's token (default where there is a key), or as user:password."`
	LLMInterface     string                        `yaml:"llm_interface" enum:"openai/v1/chat/completions|bedrock/converse/claude|bedrock/converse/deepseek_r1|gemini/v1beta/generatecontent" doc:"The wire format of the endpoint: it writes the body and reads text, tool calls, stop reason and token counts. Default: text in, text out."`
	RequestBody      component.Value               `yaml:"request_body" vars:"args,env" doc:"The body: a mapping, or JSON text, whose references become JSON, never text pasted in. ${args.X} is prompt (all that is said, as text), system, messages and tools (as llm_interface has them), model, temperature, top_p, seed, max_output_tokens, stop, schema, tool_choice, parallel_tool_calls, response_format or response_mime_type; a member whose reference is unset falls away. Default: the body of llm_interface."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each body; they replace fields of the same name."`
	ResponseFilter   component.FilterRef           `yaml:"response_filter" doc:"JSONPath (RFC 9535) of the text in the answer; several values, and lists of content blocks, are joined. Default: as llm_interface has it, else the whole answer where it is text."`
	StructuredOutput string                        `yaml:"structured_output" enum:"native|prompt|none" doc:"How JSON of a schema is asked for: by the interface's own field (default where it has one), by words in the system prompt (default elsewhere), or not at all."`
}

// references are the names that ${args.X} may use.
var references = []string{
	"prompt", "system", "messages", "tools", "model", "temperature", "top_p", "seed", "max_output_tokens", "stop",
	"schema", "tool_choice", "parallel_tool_calls", "response_format", "response_mime_type",
}

var _ tool.AccessDescriber = (*Config)(nil)

// Access implements tool.AccessDescriber: the address in url, which may differ from
// base_url; one below base_url starts with / and is included too.
func (c *Config) Access() []string {
	if c.URL.Text == "" {
		return nil
	}
	return tool.Connects(c.URL, nil)
}
