package call

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
)

// AtBaseURL is where an llm says the address of its server.
const AtBaseURL = "/base_url"

// At is the place of one of a provider's options.
func At(option string) string { return "/options/" + option }

// CheckModel finds an llm that does not say which model of the provider's own
// service is asked. A server of another base_url may have one model alone, so
// that the fault is one of base_url, and does not count where that comes later.
func CheckModel(s model.Settings) component.Faults {
	if s.Model != "" || s.BaseURL != "" {
		return nil
	}
	return component.Faults{{At: AtBaseURL, Message: "nothing says which model is asked", Hint: "write model: and the provider's name of it"}}
}

// Address reads a base_url, without the slash at its end; like is what one
// looks like. A fault says nothing of what it holds.
func Address(base, like string) (*url.URL, component.Faults) {
	u, err := url.Parse(strings.TrimSuffix(base, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, component.Faults{{At: AtBaseURL, Message: "base_url is no http or https address", Hint: "it looks like " + like}}
	}
	return u, nil
}

// Bare is an Address without a query, for those who would lose it.
func Bare(base, like string) (*url.URL, component.Faults) {
	u, out := Address(base, like)
	if out == nil && (u.RawQuery != "" || u.Fragment != "") {
		return nil, component.Faults{{
			At: AtBaseURL, Message: "base_url ends in a query, and a path is put behind it",
			Hint: "leave out what begins with ? or #; options.url of the http provider takes a query",
		}}
	}
	return u, out
}

// made are the headers that the transport writes itself, whatever it is told.
var made = []string{"host", "content-length", "transfer-encoding", "trailer"}

// CheckHeaders finds headers that no request can carry, and names that stand
// twice but for their case.
func CheckHeaders(headers map[string]component.Template) component.Faults {
	var out component.Faults
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		add := func(message, hint string) {
			out = append(out, component.Fault{At: At("headers") + component.Key(name), Message: message, Hint: hint})
		}
		first, twice := seen[strings.ToLower(name)]
		switch {
		case name == "" || strings.ContainsFunc(name, noToken):
			add(fmt.Sprintf("%q cannot be the name of a header", name), "names are letters, digits and -, such as X-Api-Version")
		case slices.Contains(made, strings.ToLower(name)):
			add("the header "+name+" is made of what is sent and where to, and cannot be chosen", "remove it")
		case twice:
			add(fmt.Sprintf("the headers %s and %s are one, and stand twice", first, name), "remove one of them")
		case strings.ContainsFunc(strings.TrimSpace(headers[name].Text), control):
			add("the header "+name+" goes over several lines, or holds a control character", "write its value on one line")
		}
		seen[strings.ToLower(name)] = name
	}
	return out
}

// noToken says that a character cannot stand in the name of a header (RFC 9110).
func noToken(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7F }
