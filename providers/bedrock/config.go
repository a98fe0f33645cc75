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

// Bedrock is the provider `bedrock`.
var Bedrock = component.New[Config, model.Settings, model.Model](
	"bedrock",
	"Amazon Bedrock: every model of its Converse API (Claude, Nova, Llama, Mistral, DeepSeek, gpt-oss, ...), by model id, inference profile or ARN.",
	func() Config {
		return Config{Credentials: environment, StructuredOutput: formAuto, GuardrailVersion: "DRAFT"}
	},
	Build,
)

// Where credentials are looked for.
const (
	environment  = "environment"
	defaultChain = "default"
)

// How a model is asked for JSON of a schema.
const (
	formAuto        = "auto"
	formNative      = "json_schema"
	formTool        = "tool"
	formInstruction = "instruction"
	formNone        = "none"
)

// Config is what stands under `options:`.
type Config struct {
	Region           string         `yaml:"region" doc:"AWS region; without it that of AWS_REGION, of AWS_DEFAULT_REGION, or of the model's ARN."`
	Credentials      string         `yaml:"credentials" enum:"environment|default" doc:"environment (default): the key of api_key_env (AWS_BEARER_TOKEN_BEDROCK) or else AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; default: also whatever AWS's own tools would find, in shared files, SSO, roles and the machine's metadata service."`
	Profile          string         `yaml:"profile" doc:"Profile in the shared AWS files; needs credentials: default."`
	BaseModel        string         `yaml:"base_model" doc:"Id of the model behind an ARN that does not name it, such as anthropic.claude-sonnet-4-5: some fields are sent to models only that know them."`
	StructuredOutput string         `yaml:"structured_output" enum:"auto|json_schema|tool|instruction|none" doc:"How the model is asked for JSON of a schema: json_schema (Bedrock's own; constraints it does not know are left out), tool (a tool it must call), instruction (a sentence in the system prompt), none; auto (default) is json_schema for Claude 4.5 and later where the schema can be said so, else instruction."`
	ReasoningEffort  string         `yaml:"reasoning_effort" doc:"How hard a model works that has such a setting: low, medium, high, xhigh, max."`
	ThinkingBudget   int            `yaml:"thinking_budget" min:"1024" doc:"Tokens that Claude may think with before it answers; with it, temperature and top_p are not sent. Models that set their own budget take extra: {thinking: {type: adaptive}}."`
	Cache            bool           `yaml:"cache" doc:"Mark what stays the same (tools, system prompt, and in a conversation with tools what was said so far) for Bedrock's prompt cache; only for models that have one."`
	CacheTTL         string         `yaml:"cache_ttl" enum:"5m|1h" doc:"How long the cache keeps it; the model's default without."`
	Guardrail        string         `yaml:"guardrail" doc:"Id or ARN of a guardrail to apply."`
	GuardrailVersion string         `yaml:"guardrail_version" doc:"Version of the guardrail."`
	Latency          string         `yaml:"latency" enum:"standard|optimized" doc:"Optimized asks for the fast variant of a model that has one."`
	ServiceTier      string         `yaml:"service_tier" enum:"priority|default|flex|reserved" doc:"Tier that serves the request."`
	Extra            map[string]any `yaml:"extra" doc:"Fields of the model's own (additionalModelRequestFields), such as top_k; they replace ours of the same name."`
}

// KeyVariables says where the key is found.
func (*Config) KeyVariables() model.KeyVariables {
	return model.KeyVariables{Names: []string{"AWS_BEARER_TOKEN_BEDROCK"}, Others: []string{"AWS_ACCESS_KEY_ID"}}
}

var _ component.Checker[model.Settings] = (*Config)(nil)

// Check implements component.Checker.
func (c *Config) Check(s model.Settings) (out component.Faults) {
	if s.BaseURL != "" {
		_, out = modelhttp.Bare(s.BaseURL, "https://bedrock-runtime.eu-west-1.amazonaws.com, and is needed for other endpoints than the region's own only")
	}
	out = append(out, modelhttp.CheckModel(s)...)
	if c.Profile != "" && c.Credentials != defaultChain {
		out = append(out, component.Fault{
			At: modelhttp.At("profile"), Message: "options.profile is a profile of the shared AWS files, which are not read",
			Hint: "write options.credentials: default",
		})
	}
	return out
}

// base is the id that tells what a model knows.
func (c *Config) base(id string) string {
	if c.BaseModel != "" {
		return c.BaseModel
	}
	return id
}

// claude says whether an id is one of Anthropic's.
func claude(id string) bool { return strings.Contains(id, "anthropic.") }

// marksErrors says whether a model takes the status of a tool's result.
func marksErrors(id string) bool { return claude(id) || strings.Contains(id, "amazon.nova") }

// numbered is the name of a Claude model since 4, with its number.
var numbered = text.Regexp(`anthropic\.claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:[-:]|$)`)

// recent says whether an id is a Claude of 4.5 or later.
func recent(id string) bool {
	n := numbered().FindStringSubmatch(id)
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

// UnenforcedKeywords implements model.SchemaHolder. Models that are asked by a tool or in
// words are held to no schema.
func (c *Config) UnenforcedKeywords(s model.Settings, schema json.RawMessage) component.Faults {
	if c.StructuredOutput != formNative && (c.StructuredOutput != formAuto || !recent(c.base(s.Model))) || !json.Valid(schema) {
		return nil
	}
	_, found := schemasubset.Schema(schema, schemasubset.Limits{})
	return found
}
