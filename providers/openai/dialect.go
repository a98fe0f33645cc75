package openai

import (
	"encoding/json"
	"net/url"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// dialect is what a vendor's servers want in their own way. The zero value is
// a server that does as OpenAI does and needs no key.
type dialect struct {
	base      string                 // of the API, with no slash at its end
	model     string                 // asked for whatever the request names, "" = what it names
	keyHeader string                 // where the key goes, "" = Authorization, as a bearer's
	wantsKey  string                 // said where no key is given, "" = none is needed
	legacy    bool                   // the limit of output is called max_tokens
	options   []option.RequestOption // of each request

	unheld func(schema json.RawMessage) component.Faults // the rules of its strict mode, nil = OpenAI's

	adapt func(*sdk.ChatCompletionNewParams)        // the last change to a request, nil = none
	hint  func(e *model.Error, model string) string // the way out of an error, "" = none is known
}

// withVersion is a base_url with the API's version, which many leave out.
func withVersion(u *url.URL) string {
	if u.Path == "" {
		return u.JoinPath("v1").String()
	}
	return u.String()
}

// noKey is the sentence for a missing key: the variable it is looked for in.
func noKey(env string) string {
	return "set the environment variable that api_key_env names (" + env + " by default), or base_url for a server that needs none"
}

// strict says whether a schema keeps the rules of the server's strict mode.
// Others are sent without it: the server then does its best, and the caller
// validates in any case.
func (d *dialect) strict(schema json.RawMessage) bool {
	rules := d.unheld
	if rules == nil {
		rules = unheld
	}
	return json.Valid(schema) && rules(schema) == nil
}
