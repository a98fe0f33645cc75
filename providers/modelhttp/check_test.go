package modelhttp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/providers/modelhttp"
)

func TestInvalidHeadersAreReported(t *testing.T) {
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
		{"a space in a name", map[string]string{"X Key": "a"}, component.Faults{fault("/options/headers/X Key", `"X Key" is not a valid header name`, "use only letters, digits and -, as in X-Api-Version")}},
		{"a name with JSON Pointer characters", map[string]string{"a/b~c:": "a"}, component.Faults{fault("/options/headers/a~1b~0c:", `"a/b~c:" is not a valid header name`, "use only letters, digits and -, as in X-Api-Version")}},
		{"empty name", map[string]string{"": "a"}, component.Faults{fault("/options/headers/", `"" is not a valid header name`, "use only letters, digits and -, as in X-Api-Version")}},
		{"a name in another script", map[string]string{"Schlüssel": "a"}, component.Faults{fault("/options/headers/Schlüssel", `"Schlüssel" is not a valid header name`, "use only letters, digits and -, as in X-Api-Version")}},
		{"a header of the HTTP client", map[string]string{"Host": "other"}, component.Faults{fault("/options/headers/Host", "the header Host is set by the HTTP client and cannot be overridden", "remove it")}},
		{"twice", map[string]string{"accept": "a", "Accept": "b"}, component.Faults{fault("/options/headers/accept", "duplicate header: Accept and accept", "remove one of them")}},
		{"two lines", map[string]string{"A": "a\r\nB: b", "C": "\x7f"}, component.Faults{
			fault("/options/headers/A", "the header A contains a line break or control character", "write its value on one line"),
			fault("/options/headers/C", "the header C contains a line break or control character", "write its value on one line"),
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

// Most libraries drop the query of a URL or append the path to it.
func TestAddressWithQueryIsRejected(t *testing.T) {
	for _, base := range []string{"https://host/v1?key=k", "https://host/#a"} {
		_, faults := modelhttp.AddressWithoutQuery(base, "https://host")
		want := component.Faults{{At: modelhttp.AtBaseURL, Message: "base_url has a query or fragment, but a path is appended to it", Hint: "remove everything from ? or # on; options.url of the http provider may have a query"}}
		if diff := cmp.Diff(want, faults); diff != "" {
			t.Error(base, diff)
		}
	}
}

func TestAddressMustBeHTTP(t *testing.T) {
	for base, want := range map[string]string{
		"https://host/v1/": "https://host/v1", "http://user:pass@host:8080": "http://user:pass@host:8080",
		"": "", "host": "", "host:8080": "", "ftp://host": "", "https://": "", "https:///v1": "", "http://ho st": "", "${env.URL}": "",
	} {
		u, faults := modelhttp.Address(base, "https://host")
		if want == "" {
			if faults.Error() != "base_url is not an http or https URL: write a URL such as https://host" || faults[0].At != modelhttp.AtBaseURL {
				t.Errorf("%q: %v", base, faults)
			}
			continue
		}
		if faults.Err() != nil || u.String() != want {
			t.Errorf("%q: %v %v", base, u, faults)
		}
	}
}
