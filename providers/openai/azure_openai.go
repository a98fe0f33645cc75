package openai

import (
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
)

// AzureOpenAI is the provider `azure_openai`.
var AzureOpenAI = component.New[AzureConfig, model.Settings, model.Model](
	"azure_openai",
	"Models deployed in Azure (OpenAI and Foundry resources). base_url is the resource's endpoint: https://NAME.openai.azure.com. The key is read from AZURE_OPENAI_API_KEY, unless api_key_env names another variable.",
	func() AzureConfig {
		return AzureConfig{Auth: "api_key", StructuredOutput: nativeSchema, StreamUsage: true}
	},
	func(c *AzureConfig, s model.Settings) (model.Model, error) { return NewAzure(c, s, nil) },
)

// AzureConfig has the `options:` of azure_openai.
type AzureConfig struct {
	Deployment       string                        `yaml:"deployment" doc:"Name of the deployment in the resource. Default: the LLM's model."`
	APIVersion       string                        `yaml:"api_version" doc:"Dated version of the older API with the path /openai/deployments/NAME, such as 2024-10-21. Default: the v1 API, which has no dated versions; preview enables its previews."`
	Auth             string                        `yaml:"auth" enum:"api_key|bearer" doc:"Kind of credential in api_key_env: api_key (default), a key of the resource; bearer, an Entra ID token, which expires after about an hour."`
	ReasoningEffort  string                        `yaml:"reasoning_effort" doc:"Effort of a reasoning model: minimal, low, medium, high, or another value of the deployment. Default: the model's."`
	LegacyMaxTokens  *bool                         `yaml:"legacy_max_tokens" doc:"Send max_output_tokens as max_tokens. Default: true for API versions before 2024-09-01, which do not have max_completion_tokens."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How to request JSON that matches a schema: json_schema (default), json_object (JSON mode without the schema), none."`
	StreamUsage      bool                          `yaml:"stream_usage" doc:"Request token counts in streams. Never sent to API versions before 2024-09-01."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Additional request headers."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Additional fields of each request body; they replace fields of the same name."`
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
	d.missingKey = "set the environment variable that api_key_env names (AZURE_OPENAI_API_KEY by default)"
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
			return "requested deployment " + m + "; set options.deployment if its name differs from the model; a new deployment takes some minutes"
		case e.Kind == model.AuthError && c.Auth == "bearer":
			return "tokens expire after about an hour; for a new one run: az account get-access-token --resource https://cognitiveservices.azure.com"
		}
		return ""
	}
}

var _ model.SchemaEnforcer = (*AzureConfig)(nil)

// EnforcingOutput implements model.SchemaEnforcer.
func (c *AzureConfig) EnforcingOutput() string { return enforcing(c.StructuredOutput) }
