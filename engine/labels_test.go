package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
)

func TestLabels(t *testing.T) {
	for _, tt := range []struct {
		labels []string
		want   map[string]string
		err    string
	}{
		{nil, nil, ""},
		{[]string{"team=shop", "url=https://x/?a=b", "empty="}, map[string]string{"team": "shop", "url": "https://x/?a=b", "empty": ""}, ""},
		{[]string{"team"}, nil, `invalid label "team"; use KEY=VALUE`},
		{[]string{"a=1", "a=2"}, nil, `duplicate label "a"`},
		{[]string{"=x"}, nil, `invalid label key ""; use`},
		{[]string{"a b=x"}, nil, `invalid label key "a b"; use`},
		{[]string{strings.Repeat("k", 64) + "=x"}, nil, "invalid label key"},
		{[]string{"a=" + strings.Repeat("v", 201)}, nil, "label a has 201 bytes; the maximum is 200"},
		{[]string{"a=x\ny"}, nil, "label a has a control character"},
	} {
		got, err := engine.ParseLabels(tt.labels)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%q: %s", tt.labels, d)
		}
		if (err != nil) != (tt.err != "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%q: %v, want %s", tt.labels, err, tt.err)
		}
	}
	if got := engine.FormatLabels(map[string]string{"team": "shop", "env": "prod"}); got != "env=prod, team=shop" {
		t.Error(got)
	}
}
