package reply_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/node/reply"
)

type vector struct {
	ID, Name, Input string
	Expect          struct {
		Kind, Result, Error, Warning string
		Steps                        []string
		Repaired                     bool
	}
}

func vectors(t testing.TB) []vector {
	t.Helper()
	raw, err := os.ReadFile("../../../testdata/vectors/plan-parse.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []vector }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

func TestVectors(t *testing.T) {
	all := vectors(t)
	if len(all) != 45 {
		t.Fatalf("%d vectors, want 45", len(all))
	}
	for _, v := range all {
		t.Run(v.ID+" "+v.Name, func(t *testing.T) {
			got := reply.Parse(v.Input, reply.Options{})
			want := v.Expect
			if string(got.Kind) != want.Kind || got.Code != want.Error || got.Result != want.Result || got.Repaired != want.Repaired {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			if diff := cmp.Diff(want.Steps, goals(got)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			var warnings []string
			if want.Warning != "" {
				warnings = []string{want.Warning}
			}
			if !slices.Equal(got.Warnings, warnings) {
				t.Errorf("warnings %q, want %q", got.Warnings, warnings)
			}
		})
	}
}

func goals(r reply.Result) []string {
	var out []string
	for _, s := range r.Steps {
		out = append(out, s.Goal)
	}
	return out
}
