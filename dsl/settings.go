package dsl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// setting is an override of the spec under test.
type setting struct {
	text string // path=yaml
	at   syntax.Position
}

func textsOf(set []setting) []string {
	out := make([]string, len(set))
	for i := range set {
		out[i] = set[i].text
	}
	return out
}

// settings reads overrides: a mapping of paths, or a list of "path=yaml".
func (c *compiler) settings(v *syntax.Node, path string) (out []setting) {
	switch {
	case v == nil:
	case v.Kind == syntax.Map:
		for _, e := range v.Entries {
			out = append(out, setting{e.Key + "=" + string(e.Value.AppendJSON(nil)), e.Position})
		}
	case v.Kind == syntax.List:
		for i, it := range v.Items {
			at := path + "[" + strconv.Itoa(i) + "]"
			if !c.AsText(it, at) {
				continue
			}
			if p, _, ok := strings.Cut(it.Text, "="); !ok || p == "" {
				c.Report.Error(diag.BadOverride, it.Position, "%s sets nothing", syntax.Quote(it.Text)).Hint = "write path=value: limits.max_steps=5"
				continue
			}
			out = append(out, setting{it.Text, it.Position})
		}
	default:
		c.WrongType(v, path, "a mapping of paths").Hint = "write {limits.max_steps: 5}"
	}
	return out
}

// under is a spec with overrides. What is wrong with it is reported: the spec's
// own mistakes where they are, those of an override where it is written. nil =
// it does not compile, which is reported.
func (l *loader) under(at syntax.Position, path string, set []setting) *Spec {
	s, found := l.programs().load(path, l.Files.Shown(path), textsOf(set))
	for _, d := range found {
		if d.Severity != diag.Error {
			continue
		}
		if i := slices.IndexFunc(set, func(s setting) bool { return d.File == "--set "+s.text }); i >= 0 {
			l.Report.Error(d.Code, set[i].at, "%s", strings.ReplaceAll(d.Message, d.File, set[i].path())).Hint = d.Hint
			continue
		}
		l.Report.Keep(d)
	}
	switch {
	case s == nil || found.Failed():
		return nil
	case s.program == nil:
		l.Report.Error(diag.WrongKind, at, "%s is of kind: %s, not Agent", l.Files.Shown(s.File), s.Kind)
		return nil
	}
	return s
}

func (s setting) path() string {
	path, _, _ := strings.Cut(s.text, "=")
	return path
}

// programs are the options' own, or ours.
func (l *loader) programs() *Programs {
	if l.options.Programs == nil {
		l.options.Programs = NewPrograms(l.options)
	}
	return l.options.Programs
}
