package openai

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/providers/modelhttp"
)

const azureLike = "https://NAME.openai.azure.com"

var azureDate = text.Regexp(`^\d{4}-\d{2}-\d{2}(-preview)?$`)

// dated reports whether the older API is used, whose versions are dates.
func (c *AzureConfig) dated() bool { return azureDate().MatchString(c.APIVersion) }

// base returns the URL of a resource's API. A base_url that contains more than the
// endpoint is used as it is.
func (c *AzureConfig) base(s model.Settings) string {
	u, _ := modelhttp.AddressWithoutQuery(s.BaseURL, azureLike)
	if azureV1(u) || azureNamed(u) {
		return u.String()
	}
	if !strings.HasSuffix(u.Path, "/openai") {
		u = u.JoinPath("openai")
	}
	if !c.dated() {
		return u.JoinPath("v1").String()
	}
	return u.JoinPath("deployments", url.PathEscape(cmp.Or(c.Deployment, s.Model))).String()
}

// azureV1 reports whether a base_url is that of the API without dated versions.
func azureV1(u *url.URL) bool { return strings.HasSuffix(u.Path, "/openai/v1") }

// azureNamed reports whether a base_url contains the deployment.
func azureNamed(u *url.URL) bool { return strings.Contains(u.Path, "/deployments/") }

var _ component.Checker[model.Settings] = (*AzureConfig)(nil)

// Check implements component.Checker.
func (c *AzureConfig) Check(s model.Settings) (out component.Faults) {
	if s.BaseURL == "" {
		out = append(out, component.Fault{At: modelhttp.AtBaseURL, Message: "missing base_url", Hint: "set it to the endpoint of the resource, " + azureLike})
	} else if u, wrong := modelhttp.AddressWithoutQuery(s.BaseURL, azureLike); wrong != nil {
		out = append(out, wrong...)
	} else {
		out = append(out, c.clash(u, cmp.Or(c.Deployment, s.Model))...)
	}
	if v := c.APIVersion; v != "" && v != "preview" && v != "latest" && !c.dated() {
		out = append(out, component.Fault{
			At: modelhttp.At("api_version"), Message: fmt.Sprintf("options.api_version %q is not a version", v),
			Hint: "write a date such as 2024-10-21, or preview, or remove it",
		})
	}
	return append(out, modelhttp.CheckHeaders(c.Headers)...)
}

// clash returns the fault of a base_url that does not match the version, or of a missing
// deployment.
func (c *AzureConfig) clash(u *url.URL, deployment string) component.Faults {
	switch {
	case azureV1(u) && c.dated():
		return component.Faults{{
			At: modelhttp.AtBaseURL, Message: "base_url ends in /openai/v1, the API without dated versions",
			Hint: "remove options.api_version, or the end of base_url",
		}}
	case azureNamed(u) && !c.dated():
		return component.Faults{{
			At: modelhttp.AtBaseURL, Message: "base_url is that of a deployment in the older API",
			Hint: "set options.api_version to a date, or base_url to the endpoint: " + azureLike,
		}}
	case c.dated() && !azureNamed(u) && deployment == "":
		return component.Faults{{At: "/model", Message: "no deployment is set", Hint: "set model or options.deployment to its name"}}
	}
	return nil
}
