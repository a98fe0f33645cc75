package serverspec

import (
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/text"
)

var (
	endpointForm = text.Regexp(language.EndpointPattern)
	variableForm = text.Regexp(language.VariableName)
)

// opensearch checks what registered agents may reach.
func (b *compiler) opensearch() {
	k := b.keys.OpenSearch
	b.config.OpenSearch = OpenSearch(k)
	section := b.tree.Get("opensearch")
	for i, endpoint := range k.Endpoints {
		if v := section.Get("endpoints").Items[i]; !endpointForm().MatchString(endpoint) {
			b.Report.Error(diag.NotAllowed, v.Position, "invalid URL %s for opensearch.endpoints", syntax.Quote(endpoint)).
				Hint = "write scheme, host and path without a query, such as http://127.0.0.1:11434/v1"
		}
	}
	for i, name := range k.Env {
		if v := section.Get("env").Items[i]; !variableForm().MatchString(name) {
			b.Report.Error(diag.NotAllowed, v.Position, "invalid environment variable %s for opensearch.env", syntax.Quote(name)).
				Hint = "write the name of a variable, not its value"
		}
	}
}
