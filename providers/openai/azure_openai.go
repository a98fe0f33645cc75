package openai

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// AzureOpenAI is the provider `azure_openai`.
var AzureOpenAI = component.New[AzureConfig, model.Settings, model.Model](
	"azure_openai",
	"Models deployed in Azure (OpenAI and Foundry resources). base_url is the resource's endpoint: https://NAME.openai.azure.com. The key is looked for in AZURE_OPENAI_API_KEY unless api_key_env names another variable.",
	func() AzureConfig {
		return AzureConfig{Auth: "api_key", StructuredOutput: nativeSchema, StreamUsage: true}
	},
	func(c *AzureConfig, s model.Settings) (model.Model, error) { return NewAzure(c, s, nil) },
)

// AzureConfig has the `options:` of azure_openai.
type AzureConfig struct {
	Deployment       string                        `yaml:"deployment" doc:"The deployment's name in the resource; the llm's model by default."`
	APIVersion       string                        `yaml:"api_version" doc:"A dated version of the older API, such as 2024-10-21, which asks .../openai/deployments/NAME; default: the v1 API, which has no dates (preview opts in to its previews)."`
	Auth             string                        `yaml:"auth" enum:"api_key|bearer" doc:"What the variable of api_key_env holds: a key of the resource (default), or a bearer token of Entra ID, which lives about an hour."`
	ReasoningEffort  string                        `yaml:"reasoning_effort" doc:"How much a reasoning model thinks: minimal, low, medium, high, or what the deployment knows; its default when unset."`
	LegacyMaxTokens  *bool                         `yaml:"legacy_max_tokens" doc:"Send max_output_tokens as max_tokens; true by default for API versions before 2024-09-01, which do not know max_completion_tokens."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How the deployment is asked for JSON of a schema: json_schema (default), json_object for models that only know JSON mode, none."`
	StreamUsage      bool                          `yaml:"stream_usage" doc:"Ask for token counts in streams; API versions before 2024-09-01 are never asked."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body; they replace fields of the same name."`
}

// KeyVariables implements model.Keyed.
func (*AzureConfig) KeyVariables() model.KeyVariables {
	return model.KeyVariables{Names: []string{"AZURE_OPENAI_API_KEY"}}
}

// azureLimits is the first version with max_completion_tokens, stream_options and
// parallel_tool_calls.
const azureLimits = "2024-09-01"

// NewAzure returns a model that is deployed in Azure. change, if not nil, adapts the
// transport's settings (tests).
func NewAzure(c *AzureConfig, s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	old := c.dated() && c.APIVersion < azureLimits
	d := dialect{base: c.base(s), model: c.Deployment, legacy: old, hint: azureHint(c), apiVersion: c.APIVersion}
	d.wantsKey = "set the environment variable that api_key_env names (AZURE_OPENAI_API_KEY by default)"
	if c.Auth != "bearer" {
		d.keyHeader = "Api-Key"
	}
	if c.LegacyMaxTokens != nil {
		d.legacy = *c.LegacyMaxTokens
	}
	if old {
		d.adapt = func(r *chatRequest) { r.ParallelToolCalls = nil }
	}
	return connect(Config{
		ReasoningEffort: c.ReasoningEffort, StructuredOutput: c.StructuredOutput, StreamUsage: c.StreamUsage && !old,
		Headers: c.Headers, ExtraBody: c.ExtraBody,
	}, s, d, change)
}

func azureHint(c *AzureConfig) func(*model.Error, string) string {
	return func(e *model.Error, m string) string {
		switch {
		case e.Kind == model.NotFound:
			return "asked for the deployment " + m + ": options.deployment names another than the llm's model, and a new one takes some minutes"
		case e.Kind == model.AuthError && c.Auth == "bearer":
			return "a token lives about an hour: az account get-access-token --resource https://cognitiveservices.azure.com gives a new one"
		}
		return ""
	}
}

var _ model.SchemaEnforcer = (*AzureConfig)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *AzureConfig) EnforcingOutput() string { return enforcing(c.StructuredOutput) }
