package dsl_test

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/pexctl/pex/dsl"
)

const encodedSpec = `apiVersion: pex/v1
kind: Agent
metadata: {name: caf\u00e9}
llms:
  main: {provider: scripted}
planner:
  planner_prompt: |
    \u00a0 a text may begin with a no-break space: here
`

func wide(order binary.AppendByteOrder, mark bool, text string) string {
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xfeff}, units...)
	}
	var b []byte
	for _, u := range units {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// A file in another encoding, or indented with other white space, has one
// diagnostic: the place and how to fix it.
func TestEncodingsHaveOneDiagnostic(t *testing.T) {
	spec := strings.NewReplacer(`\u00e9`, "\u00e9", `\u00a0`, "\u00a0").Replace(encodedSpec)
	tests := []struct{ name, text, want string }{
		{"UTF-8", spec, ""},
		{"UTF-8 with a mark", "\ufeff" + spec, ""},
		{"UTF-16LE with a mark", wide(binary.LittleEndian, true, spec), "spec.yaml:1:1: error PEX004: the file is encoded as UTF-16LE; a spec must be UTF-8"},
		{"UTF-16BE with a mark", wide(binary.BigEndian, true, spec), "spec.yaml:1:1: error PEX004: the file is encoded as UTF-16BE; a spec must be UTF-8"},
		{"UTF-16LE", wide(binary.LittleEndian, false, spec), "spec.yaml:1:1: error PEX004: the file is encoded as UTF-16LE; a spec must be UTF-8"},
		{"UTF-16BE", wide(binary.BigEndian, false, spec), "spec.yaml:1:1: error PEX004: the file is encoded as UTF-16BE; a spec must be UTF-8"},
		{"Latin-1", strings.ReplaceAll(spec, "\u00e9", "\xe9"), "spec.yaml:3:21: error PEX004: invalid UTF-8: byte 0xE9"},
		{"no-break spaces", strings.ReplaceAll(spec, "  main", "\u00a0\u00a0main"), "spec.yaml:5:1: error PEX004: the line is indented with a no-break space (U+00A0); YAML allows only ordinary spaces"},
		{"a space and a no-break space", strings.ReplaceAll(spec, "  main", " \u00a0main"), "spec.yaml:5:2: error PEX004: the line is indented with a no-break space (U+00A0); YAML allows only ordinary spaces"},
		{"ideographic spaces", strings.ReplaceAll(spec, "  main", "\u3000main"), "spec.yaml:5:1: error PEX004: the line is indented with the space character U+3000; YAML allows only ordinary spaces"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("spec.yaml", []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, found := dsl.Load("spec.yaml", dsl.Options{Catalog: catalog})
			switch {
			case tt.want == "" && len(found) > 0:
				t.Errorf("reported:\n%s", found.String())
			case tt.want == "":
			case len(found) != 1 || !strings.HasPrefix(found.String(), tt.want+"\n") || found[0].Hint == "":
				t.Errorf("reported:\n%s\nwant one with a hint: %s", found.String(), tt.want)
			}
		})
	}
}
