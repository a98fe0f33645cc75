package openai

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/wire"
)

// AzureOpenAI is the provider `azure_openai`.
var AzureOpenAI = component.New[AzureConfig, engine.ModelSettings, engine.Model](
	"azure_openai",
	"Models deployed in Azure (OpenAI and Foundry resources). base_url is the resource's endpoint: https://NAME.openai.azure.com.",
	func() AzureConfig {
		return AzureConfig{Auth: "api_key", StructuredOutput: "json_schema", StreamUsage: true}
	},
	func(c *AzureConfig, s engine.ModelSettings) (engine.Model, error) { return NewAzure(c, s, nil) },
)

// AzureConfig is what stands under `options:` of azure_openai.
type AzureConfig struct {
	Deployment       string                        `yaml:"deployment" doc:"The deployment's name in the resource; the llm's model by default."`
	APIVersion       string                        `yaml:"api_version" doc:"A dated version of the older API, such as 2024-10-21, which asks .../openai/deployments/NAME; default: the v1 API, which has no dates (preview opts in to its previews)."`
	Auth             string                        `yaml:"auth" enum:"api_key|bearer" doc:"What the variable of api_key_env holds: a key of the resource (default), or a bearer token of Entra ID, which lives about an hour."`
	ReasoningEffort  string                        `yaml:"reasoning_effort" doc:"How much a reasoning model thinks: minimal, low, medium, high, or what the deployment knows; none = its default."`
	LegacyMaxTokens  *bool                         `yaml:"legacy_max_tokens" doc:"Send max_output_tokens as max_tokens; true by default for API versions before 2024-09-01, which do not know max_completion_tokens."`
	StructuredOutput string                        `yaml:"structured_output" enum:"json_schema|json_object|none" doc:"How the deployment is asked for JSON of a schema: json_schema (default), json_object for models that only know JSON mode, none."`
	StreamUsage      bool                          `yaml:"stream_usage" doc:"Ask for token counts in streams; API versions before 2024-09-01 are never asked."`
	Headers          map[string]component.Template `yaml:"headers" vars:"env" doc:"Headers to send with each request."`
	ExtraBody        map[string]any                `yaml:"extra_body" doc:"Fields to put into each request body; they replace fields of the same name."`
}

const azureLike = "https://NAME.openai.azure.com"

// azureLimits is the first version that knows max_completion_tokens,
// stream_options and parallel_tool_calls.
const azureLimits = "2024-09-01"

var azureDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-preview)?$`)

// NewAzure makes a model of a deployment in Azure; change, if not nil, may
// adapt the transport's settings first (tests).
func NewAzure(c *AzureConfig, s engine.ModelSettings, change func(*wire.Settings)) (engine.Model, error) {
	if s.BaseURL == "" {
		return nil, errors.New("azure_openai has no base_url: write the endpoint of the resource, " + azureLike)
	}
	u, err := address(s.BaseURL, azureLike)
	if err != nil {
		return nil, err
	}
	dated := azureDate.MatchString(c.APIVersion)
	if !dated && c.APIVersion != "" && c.APIVersion != "preview" && c.APIVersion != "latest" {
		return nil, fmt.Errorf("options.api_version %q is no version: write a date such as 2024-10-21, or preview, or leave it out", c.APIVersion)
	}
	old := dated && c.APIVersion < azureLimits
	d := dialect{model: c.Deployment, legacy: old, hint: azureHint(c)}
	if d.base, err = azureBase(u, dated, cmp.Or(c.Deployment, s.Model)); err != nil {
		return nil, err
	}
	d.wantsKey = "set the environment variable that api_key_env names (AZURE_OPENAI_API_KEY by default)"
	if c.Auth != "bearer" {
		d.keyHeader = "Api-Key"
	}
	if c.APIVersion != "" {
		d.options = append(d.options, option.WithQuery("api-version", c.APIVersion))
	}
	if c.LegacyMaxTokens != nil {
		d.legacy = *c.LegacyMaxTokens
	}
	if old {
		d.adapt = func(p *sdk.ChatCompletionNewParams) { p.ParallelToolCalls = param.Opt[bool]{} }
	}
	return connect(Config{
		ReasoningEffort: c.ReasoningEffort, StructuredOutput: c.StructuredOutput, StreamUsage: c.StreamUsage && !old,
		Headers: c.Headers, ExtraBody: c.ExtraBody,
	}, s, d, change), nil
}

// azureBase is where a resource's API is. A base_url that says more than the
// endpoint is taken at its word.
func azureBase(u *url.URL, dated bool, deployment string) (string, error) {
	v1, named := strings.HasSuffix(u.Path, "/openai/v1"), strings.Contains(u.Path, "/deployments/")
	switch {
	case v1 && dated:
		return "", errors.New("base_url ends in /openai/v1, the API without dated versions: leave out options.api_version, or the end of base_url")
	case named && !dated:
		return "", errors.New("base_url leads to a deployment of the older API: name a dated options.api_version, or write the endpoint alone: " + azureLike)
	case v1, named:
		return u.String(), nil
	}
	if !strings.HasSuffix(u.Path, "/openai") {
		u = u.JoinPath("openai")
	}
	if !dated {
		return u.JoinPath("v1").String(), nil
	}
	if deployment == "" {
		return "", errors.New("azure_openai asks no deployment: name it by model, or by options.deployment")
	}
	return u.JoinPath("deployments", url.PathEscape(deployment)).String(), nil
}

func azureHint(c *AzureConfig) func(*engine.ModelError, string) string {
	return func(e *engine.ModelError, model string) string {
		switch {
		case e.Kind == engine.NotFound:
			return "asked for the deployment " + model + ": options.deployment names another than the llm's model, and a new one takes some minutes"
		case e.Kind == engine.AuthError && c.Auth == "bearer":
			return "a token lives about an hour: az account get-access-token --resource https://cognitiveservices.azure.com gives a new one"
		}
		return ""
	}
}
