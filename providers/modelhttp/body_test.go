package modelhttp_test

import (
	"math"
	"testing"

	"github.com/pexctl/pex/providers/modelhttp"
)

func TestExtraFieldsReplaceFieldsOfABody(t *testing.T) {
	type body struct {
		Model  string `json:"model"`
		Text   string `json:"text,omitempty"`
		Stream bool   `json:"stream,omitempty"`
	}
	for _, tt := range []struct {
		name  string
		body  body
		extra map[string]any
		want  string
	}{
		{"none", body{Model: "m", Text: "<b> & \u2028"}, nil, `{"model":"m","text":"<b> & \u2028"}`},
		{"new and replaced", body{Model: "m", Text: "<b>"}, map[string]any{"a.b": map[string]any{"x": "<c>"}, "model": nil}, `{"a.b":{"x":"<c>"},"model":null,"text":"<b>"}`},
		{"stream stays", body{Model: "m", Stream: true}, map[string]any{"stream": false}, `{"model":"m","stream":true}`},
		{"stream stays unset", body{Model: "m"}, map[string]any{"stream": true}, `{"model":"m"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := modelhttp.EncodeBody(tt.body, tt.extra)
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
	if got, err := modelhttp.EncodeBody(body{}, map[string]any{"n": math.NaN()}); err == nil {
		t.Errorf("NaN was encoded: %s", got)
	}
}
