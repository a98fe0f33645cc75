package testspec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// Override is an override of the spec under test.
type Override struct {
	Text     string // path=yaml
	Position syntax.Position
}

// TextsOf returns the texts of overrides.
func TextsOf(set []Override) []string {
	out := make([]string, len(set))
	for i := range set {
		out[i] = set[i].Text
	}
	return out
}

// Overrides decodes overrides: a mapping of paths, or a list of "path=yaml".
func (c *Compiler) Overrides(v *syntax.Node, path string) (out []Override) {
	switch {
	case v == nil:
	case v.Kind == syntax.Map:
		for _, e := range v.Entries {
			out = append(out, Override{e.Key + "=" + string(e.Value.AppendJSON(nil)), e.Position})
		}
	case v.Kind == syntax.List:
		for i, it := range v.Items {
			at := path + "[" + strconv.Itoa(i) + "]"
			if !c.AsText(it, at) {
				continue
			}
			if p, _, ok := strings.Cut(it.Text, "="); !ok || p == "" {
				c.Report.Error(diag.BadOverride, it.Position, "--set %s has no value", syntax.Quote(it.Text)).Hint = "write PATH=VALUE: limits.max_steps=5"
				continue
			}
			out = append(out, Override{it.Text, it.Position})
		}
	default:
		c.WrongType(v, path, "a mapping of paths").Hint = "write {limits.max_steps: 5}"
	}
	return out
}

// LoadSubject compiles a spec with overrides. It reports the spec's own mistakes
// at their places, and those of an override at the place of the override. It
// returns nil after reporting an error.
func (e *Env) LoadSubject(u *config.Unit, at syntax.Position, path string, set []Override) *Subject {
	s, kind, found := e.Load(path, u.Files.Shown(path), TextsOf(set))
	for _, d := range found {
		if d.Severity != diag.Error {
			continue
		}
		if i := slices.IndexFunc(set, func(s Override) bool { return d.File == "--set "+s.Text }); i >= 0 {
			u.Report.Error(d.Code, set[i].Position, "%s", strings.ReplaceAll(d.Message, d.File, set[i].path())).Hint = d.Hint
			continue
		}
		u.Report.AddDiagnostic(d)
	}
	if s == nil && kind != "" && !found.Failed() {
		u.Report.Error(diag.WrongKind, at, "%s has kind: %s; an agent must have kind: Agent", u.Files.Shown(specfs.FileOf(path)), kind)
	}
	return s
}

func (s Override) path() string {
	path, _, _ := strings.Cut(s.Text, "=")
	return path
}
