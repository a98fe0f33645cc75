package modelhttp

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// AtBaseURL is the position of an LLM's base_url in a fault.
const AtBaseURL = "/base_url"

// At returns the position of one of a provider's options in a fault.
func At(option string) string { return "/options/" + option }

// CheckModel reports an LLM without a model for the provider's own service. A server at
// another base_url may have only one model; therefore the fault is placed at base_url,
// where it is ignored if base_url is set later.
func CheckModel(s model.Settings) component.Faults {
	if s.Model != "" || s.BaseURL != "" {
		return nil
	}
	return component.Faults{{At: AtBaseURL, Message: "no model is set", Hint: "set model to the provider's name of a model"}}
}

// Address parses a base_url, dropping a trailing slash; like is an example. The fault
// does not contain the value.
func Address(base, like string) (*url.URL, component.Faults) {
	u, err := url.Parse(strings.TrimSuffix(base, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, component.Faults{{At: AtBaseURL, Message: "base_url is not an http or https URL", Hint: "write a URL such as " + like}}
	}
	return u, nil
}

// AddressWithoutQuery is Address for URLs that must not have a query.
func AddressWithoutQuery(base, like string) (*url.URL, component.Faults) {
	u, out := Address(base, like)
	if out == nil && (u.RawQuery != "" || u.Fragment != "") {
		return nil, component.Faults{{
			At: AtBaseURL, Message: "base_url has a query or fragment, but a path is appended to it",
			Hint: "remove everything from ? or # on; options.url of the http provider may have a query",
		}}
	}
	return u, out
}

// managedHeaders are always set by the transport itself.
var managedHeaders = []string{"host", "content-length", "transfer-encoding", "trailer"}

// CheckHeaders reports invalid headers, and names that differ only in case.
func CheckHeaders(headers map[string]component.Template) component.Faults {
	var out component.Faults
	names := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		add := func(message, hint string) {
			out = append(out, component.Fault{At: At("headers") + component.Key(name), Message: message, Hint: hint})
		}
		first, duplicate := names[strings.ToLower(name)]
		switch {
		case name == "" || strings.ContainsFunc(name, notTokenChar):
			add(fmt.Sprintf("%q is not a valid header name", name), "use only letters, digits and -, as in X-Api-Version")
		case slices.Contains(managedHeaders, strings.ToLower(name)):
			add("the header "+name+" is set by the HTTP client and cannot be overridden", "remove it")
		case duplicate:
			add(fmt.Sprintf("duplicate header: %s and %s", first, name), "remove one of them")
		case strings.ContainsFunc(strings.TrimSpace(headers[name].Text), isControl):
			add("the header "+name+" contains a line break or control character", "write its value on one line")
		}
		names[strings.ToLower(name)] = name
	}
	return out
}

// notTokenChar reports whether a character is invalid in a header name (RFC 9110).
func notTokenChar(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7F }
