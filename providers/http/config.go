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
	URL              component.Template            `yaml:"url" vars:"args,env" doc:"URL of the model, such as https://host/models/${args.model}/predict. If it starts with /, it is relative to base_url. Values are escaped. Default: base_url and the path of llm_interface."`
	Method           string                        `yaml:"method" enum:"POST|PUT|PATCH|GET" doc:"HTTP method; POST by default. GET requests have no body."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Additional request headers, such as x-goog-api-key: ${env.GEMINI_API_KEY}."`
	Auth             string                        `yaml:"auth" enum:"none|bearer|basic" doc:"How to send the key in api_key_env: bearer (a bearer token; default if there is a key) or basic (as user:password)."`
	LLMInterface     string                        `yaml:"llm_interface" enum:"openai/v1/chat/completions|bedrock/converse/claude|bedrock/converse/deepseek_r1|gemini/v1beta/generatecontent" doc:"Protocol of the endpoint, for the body and for text, tool calls, stop reason and token counts of the reply. Default: text in, text out."`
	RequestBody      component.Value               `yaml:"request_body" vars:"args,env" doc:"Request body: a mapping or JSON text. References are replaced by JSON values, so they cannot change its structure. X in ${args.X} is prompt (the whole conversation as text), system, messages or tools (in the format of llm_interface), model, temperature, top_p, seed, max_output_tokens, stop, schema, tool_choice, parallel_tool_calls, response_format or response_mime_type. A member with an unset reference is omitted. Default: the body of llm_interface."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Additional fields of the request body. They override fields of the same name."`
	ResponseFilter   component.FilterRef           `yaml:"response_filter" doc:"JSONPath (RFC 9535) of the text in the reply. Several values and lists of content blocks are joined. Default: as defined by llm_interface, else the whole reply if it is text."`
	StructuredOutput string                        `yaml:"structured_output" enum:"native|prompt|none" doc:"How to request JSON that matches a schema: native (the protocol's own field; default if it has one), prompt (text in the system prompt; default otherwise) or none."`
}

// references are the names in ${args.X}.
var references = []string{
	"prompt", "system", "messages", "tools", "model", "temperature", "top_p", "seed", "max_output_tokens", "stop",
	"schema", "tool_choice", "parallel_tool_calls", "response_format", "response_mime_type",
}

var _ tool.AccessDescriber = (*Config)(nil)

// Access implements tool.AccessDescriber. It returns the URL in options.url, which may differ from base_url. A URL
// below base_url, starting with /, is included too.
func (c *Config) Access() []string {
	if c.URL.Text == "" {
		return nil
	}
	return tool.Connects(c.URL, nil)
}
