package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine/tool"
)

func TestArgumentNamesAreCaseSensitive(t *testing.T) {
	tests := []struct{ name, raw, wrong string }{
		{name: "all", raw: `{"path": "a", "n": 1}`},
		{name: "some", raw: `{"n": null}`},
		{name: "none"},
		{name: "other letters", raw: `{"PATH": "a"}`, wrong: `unknown argument "PATH"; the arguments are path, n`},
		{name: "no object", raw: `[1]`, wrong: "the arguments are not a JSON object"},
		{name: "null", raw: `null`, wrong: "the arguments are not a JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tool.Arguments(json.RawMessage(tt.raw), "path", "n")
			if tt.wrong == "" && (err != nil || got == nil) || tt.wrong != "" && (err == nil || err.Error() != tt.wrong) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
