package main

import (
	"testing"

	"github.com/pexctl/pex/builtins/scaffold"
	"github.com/pexctl/pex/engine/model"
)

// A new project uses the variable in which its provider expects the key.
func TestNewProjectsUseTheKeyOfTheirProvider(t *testing.T) {
	for _, p := range scaffold.Providers() {
		f, ok := components().Models.Find(p.Name)
		if !ok {
			t.Errorf("there is no provider %s", p.Name)
			continue
		}
		want := ""
		if names := model.KeyVariablesOf(f.Config()).Names; len(names) > 0 {
			want = names[0]
		}
		if p.Key != want {
			t.Errorf("%s: the project names %q, the provider reads %q", p.Name, p.Key, want)
		}
	}
}
