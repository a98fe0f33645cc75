package evalcmd

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/internal/app/envfile"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
)

// keys reports the LLMs of the variants and of the graders whose API key is not
// set.
func (s *suite) keys(c *call) error {
	o := project.SpecOptions(c.Call)
	o.Environ, o.Analyzers = nil, []dsl.Analyzer{host.UnsetKeys()}
	var found diag.List
	for _, v := range s.Variants {
		if !slices.ContainsFunc(s.variants, func(chosen batch.Variant) bool { return chosen.Name == v.Name }) {
			continue
		}
		o.Set = v.Set
		_, _, all := dsl.Compile(fspath.Shown(v.Spec), o)
		found = append(found, host.Only(all, diag.UnsetKey)...)
	}
	return ui.ShowDiagnostics(c.Call, append(found, s.graderKeys()...).Sort())
}

// graderKeys is like keys, for the models that grade.
func (s *suite) graderKeys() (found diag.List) {
	unread := envfile.Unread(s.Dir, ".")
	report := func(role string, m *engine.ModelSpec, at testspec.Position) {
		names := host.RequiredKey(m)
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return os.Getenv(name) != "" }) {
			return
		}
		found = append(found, diag.Diagnostic{
			File: at.File, Line: at.Line, Column: at.Column, Code: diag.UnsetKey, Severity: diag.Error,
			Message: fmt.Sprintf("environment variable %s is not set: the LLM of %s has no API key", strings.Join(names, " or "), role),
			Advice:  diag.Advice{Hint: host.UnsetHint(m, m.Path, names, unread)},
		})
	}
	if s.Judge != nil {
		report("judge", &s.Judge.Model, s.Judge.KeyAt)
	}
	if s.Embed != nil {
		report("embed", s.Embed, s.EmbedKeyAt)
	}
	return found
}
