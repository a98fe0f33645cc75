package dsl_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/dsl"
)

func TestJSON(t *testing.T) {
	cases := []struct{ name, src, want, wrong string }{
		{"keys keep their order", "b: 1\na: [no, 2026-01-01, 0x10, 1.50]\n", `{"b":1,"a":["no","2026-01-01",16,1.50]}`, ""},
		{"an empty document is null", "", "null", ""},
		{"a scalar", "x", `"x"`, ""},
		{"JSON is YAML", `{"a": "\u00e9 <b>"}`, `{"a":"é <b>"}`, ""},
		{"not YAML", "a: [", "", "given.yaml:1:"},
		{"too large", strings.Repeat("x", 1<<20+1), "", "1048577 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, found := dsl.JSON("given.yaml", []byte(c.src))
			if string(got) != c.want || !strings.Contains(found.String(), c.wrong) || found.Failed() != (c.wrong != "") {
				t.Errorf("got %s, %s", got, found)
			}
		})
	}
}
