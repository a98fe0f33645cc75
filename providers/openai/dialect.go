package openai

import (
	"encoding/json"
	"net/url"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// dialect describes how the servers of a vendor differ from OpenAI's. The zero value
// does not differ, and needs no key.
type dialect struct {
	base       string // URL of the API, without a trailing slash
	model      string // overrides the model of each request; "" = does not
	keyHeader  string // header of the key; "" = Authorization with a bearer token
	missingKey string // error message if there is no key; "" = none is required
	legacy     bool   // the output limit is called max_tokens
	apiVersion string // query parameter api-version; "" = none

	violations func(schema json.RawMessage) component.Faults // of the strict mode's rules; nil = strictViolations

	adapt func(*chatRequest)                        // changes each request; may be nil
	hint  func(e *model.Error, model string) string // help for an error, or ""; may be nil
}

// withVersion returns a base_url with the API's version, which many users omit.
func withVersion(u *url.URL) string {
	if u.Path == "" {
		return u.JoinPath("v1").String()
	}
	return u.String()
}

// noKey returns the help for a missing key; env is the default variable.
func noKey(env string) string {
	return "set the environment variable that api_key_env names (" + env + " by default), or base_url for a server that needs none"
}

// strict reports whether a schema conforms to the rules of the server's strict mode.
// Others are sent without it, since the server would reject them; the caller validates the
// reply in any case.
func (d *dialect) strict(schema json.RawMessage) bool {
	violations := d.violations
	if violations == nil {
		violations = strictViolations
	}
	return json.Valid(schema) && violations(schema) == nil
}
