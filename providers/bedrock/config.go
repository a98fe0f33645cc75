package bedrock

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/providers/modelhttp"
	"github.com/pexctl/pex/providers/modelhttp/schemasubset"
)

// Bedrock is the factory of the provider bedrock.
var Bedrock = component.New[Config, model.Settings, model.Model](
	"bedrock",
	"Amazon Bedrock: all models of the Converse API (Claude, Nova, Llama, Mistral, DeepSeek, gpt-oss, ...), by model ID, inference profile or ARN.",
	func() Config {
		return Config{Credentials: environment, StructuredOutput: formAuto, GuardrailVersion: "DRAFT"}
	},
	Build,
)

// Where to search for credentials.
const (
	environment  = "environment"
	defaultChain = "default"
)

// How to request JSON for a schema.
const (
	formAuto        = "auto"
	formNative      = "json_schema"
	formTool        = "tool"
	formInstruction = "instruction"
	formNone        = "none"
)

// Config contains the keys under options.
type Config struct {
	Region           string         `yaml:"region" doc:"AWS region. Default: AWS_REGION, AWS_DEFAULT_REGION, or the region in the model's ARN."`
	Credentials      string         `yaml:"credentials" enum:"environment|default" doc:"environment (default): the key in api_key_env (AWS_BEARER_TOKEN_BEDROCK), else AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. default: also everything that AWS's own tools find: shared files, SSO, roles and the instance metadata service."`
	Profile          string         `yaml:"profile" doc:"Profile in the shared AWS files. Requires credentials: default."`
	BaseModel        string         `yaml:"base_model" doc:"ID of the model behind an ARN that does not name it, such as anthropic.claude-sonnet-4-5. Some fields are sent only to models that support them."`
	StructuredOutput string         `yaml:"structured_output" enum:"auto|json_schema|tool|instruction|none" doc:"How to request JSON that matches a schema: json_schema (Bedrock's structured output; unsupported constraints are omitted), tool (a tool that the model must call), instruction (text in the system prompt), none. auto (default): json_schema for Claude 4.5 and later if it supports the schema, else instruction."`
	ReasoningEffort  string         `yaml:"reasoning_effort" doc:"Reasoning effort, for models that support it: low, medium, high, xhigh, max."`
	ThinkingBudget   int            `yaml:"thinking_budget" min:"1024" doc:"Maximum tokens that Claude may spend on thinking. If set, temperature and top_p are not sent. For models that choose their own budget use extra: {thinking: {type: adaptive}}."`
	Cache            bool           `yaml:"cache" doc:"Use prompt caching for the tools, the system prompt and, if there are tools, the conversation so far. Only for models that support it."`
	CacheTTL         string         `yaml:"cache_ttl" enum:"5m|1h" doc:"How long cached prompts are stored. Default: the model's."`
	Guardrail        string         `yaml:"guardrail" doc:"ID or ARN of a guardrail to apply."`
	GuardrailVersion string         `yaml:"guardrail_version" doc:"Version of the guardrail."`
	Latency          string         `yaml:"latency" enum:"standard|optimized" doc:"Latency mode. optimized: the faster variant, for models that have one."`
	ServiceTier      string         `yaml:"service_tier" enum:"priority|default|flex|reserved" doc:"Service tier of the requests."`
	Extra            map[string]any `yaml:"extra" doc:"Model-specific fields (additionalModelRequestFields), such as top_k. They override fields of the same name."`
}

// KeyVariables returns the environment variables of the key.
func (*Config) KeyVariables() model.KeyVariables {
	return model.KeyVariables{Names: []string{"AWS_BEARER_TOKEN_BEDROCK"}, Others: []string{"AWS_ACCESS_KEY_ID"}}
}

var _ component.Checker[model.Settings] = (*Config)(nil)

// Check implements component.Checker.
func (c *Config) Check(s model.Settings) (out component.Faults) {
	if s.BaseURL != "" {
		_, out = modelhttp.AddressWithoutQuery(s.BaseURL, "https://bedrock-runtime.eu-west-1.amazonaws.com; only needed for endpoints other than the region's")
	}
	out = append(out, modelhttp.CheckModel(s)...)
	if c.Profile != "" && c.Credentials != defaultChain {
		out = append(out, component.Fault{
			At: modelhttp.At("profile"), Message: "options.profile has no effect, because the shared AWS files are not read",
			Hint: "set options.credentials: default",
		})
	}
	return out
}

// base returns the ID that identifies what a model supports.
func (c *Config) base(id string) string {
	if c.BaseModel != "" {
		return c.BaseModel
	}
	return id
}

// isClaude reports whether an ID is a Claude model's.
func isClaude(id string) bool { return strings.Contains(id, "anthropic.") }

// supportsResultStatus reports whether a model accepts the status of a tool result.
func supportsResultStatus(id string) bool { return isClaude(id) || strings.Contains(id, "amazon.nova") }

// claudeVersion matches the ID of a Claude model since version 4, with its version.
var claudeVersion = text.Regexp(`anthropic\.claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:[-:]|$)`)

// isRecentClaude reports whether an ID is Claude 4.5 or later.
func isRecentClaude(id string) bool {
	n := claudeVersion().FindStringSubmatch(id)
	if n == nil {
		return false
	}
	major, _ := strconv.Atoi(n[1]) // digits, by the expression
	minor, _ := strconv.Atoi(n[2]) // or none: 0
	return major > 4 || major == 4 && minor >= 5
}

var _ model.SchemaEnforcer = (*Config)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *Config) EnforcingOutput() string {
	if c.StructuredOutput == formNone || c.StructuredOutput == formInstruction {
		return formAuto
	}
	return ""
}

var _ model.SchemaHolder = (*Config)(nil)

// UnenforcedKeywords implements model.SchemaHolder. With a tool or an instruction no schema is enforced.
func (c *Config) UnenforcedKeywords(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != formNative && (c.StructuredOutput != formAuto || !isRecentClaude(c.base(s.Model))) || !json.Valid(schema) {
		return nil
	}
	_, found := schemasubset.Schema(schema, schemasubset.Limits{})
	return found
}
