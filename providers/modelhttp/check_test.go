package modelhttp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/providers/modelhttp"
)

func TestHeadersThatNoRequestCanCarry(t *testing.T) {
	fault := func(at, message, hint string) component.Fault {
		return component.Fault{At: at, Message: message, Hint: hint}
	}
	for _, row := range []struct {
		name    string
		headers map[string]string
		want    component.Faults
	}{
		{"none", nil, nil},
		{"usual ones", map[string]string{"X-Api-Key": "${env.KEY}", "Accept": "a\tb", "x_1": "line end at the end\n"}, nil},
		{"a blank in a name", map[string]string{"X Key": "a"}, component.Faults{fault("/options/headers/X Key", `"X Key" cannot be the name of a header`, "names are letters, digits and -, such as X-Api-Version")}},
		{"a name with signs of pointers", map[string]string{"a/b~c:": "a"}, component.Faults{fault("/options/headers/a~1b~0c:", `"a/b~c:" cannot be the name of a header`, "names are letters, digits and -, such as X-Api-Version")}},
		{"no name", map[string]string{"": "a"}, component.Faults{fault("/options/headers/", `"" cannot be the name of a header`, "names are letters, digits and -, such as X-Api-Version")}},
		{"a name in another script", map[string]string{"Schlüssel": "a"}, component.Faults{fault("/options/headers/Schlüssel", `"Schlüssel" cannot be the name of a header`, "names are letters, digits and -, such as X-Api-Version")}},
		{"one that is not sent", map[string]string{"Host": "other"}, component.Faults{fault("/options/headers/Host", "the header Host is made of what is sent and where to, and cannot be chosen", "remove it")}},
		{"twice", map[string]string{"accept": "a", "Accept": "b"}, component.Faults{fault("/options/headers/accept", "duplicate header: Accept and accept", "remove one of them")}},
		{"two lines", map[string]string{"A": "a\r\nB: b", "C": "\x7f"}, component.Faults{
			fault("/options/headers/A", "the header A goes over several lines, or holds a control character", "write its value on one line"),
			fault("/options/headers/C", "the header C goes over several lines, or holds a control character", "write its value on one line"),
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			headers := map[string]component.Template{}
			for name, text := range row.headers {
				headers[name] = component.Template{Text: text}
			}
			if diff := cmp.Diff(row.want, modelhttp.CheckHeaders(headers)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Most libraries lose the query of an address, or put the path behind it.
func TestABareAddressHasNoQuery(t *testing.T) {
	for _, base := range []string{"https://host/v1?key=k", "https://host/#a"} {
		_, faults := modelhttp.Bare(base, "https://host")
		want := component.Faults{{At: modelhttp.AtBaseURL, Message: "base_url ends in a query, and a path is put behind it", Hint: "leave out what begins with ? or #; options.url of the http provider takes a query"}}
		if diff := cmp.Diff(want, faults); diff != "" {
			t.Error(base, diff)
		}
	}
}

func TestAnAddressIsOfTheWeb(t *testing.T) {
	for base, want := range map[string]string{
		"https://host/v1/": "https://host/v1", "http://user:pass@host:8080": "http://user:pass@host:8080",
		"": "", "host": "", "host:8080": "", "ftp://host": "", "https://": "", "https:///v1": "", "http://ho st": "", "${env.URL}": "",
	} {
		u, faults := modelhttp.Address(base, "https://host")
		if want == "" {
			if faults.Error() != "base_url is not an http or https address: it looks like https://host" || faults[0].At != modelhttp.AtBaseURL {
				t.Errorf("%q: %v", base, faults)
			}
			continue
		}
		if faults.Err() != nil || u.String() != want {
			t.Errorf("%q: %v %v", base, u, faults)
		}
	}
}
