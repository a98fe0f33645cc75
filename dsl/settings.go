package dsl

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// setting is an override of the spec under test.
type setting struct {
	text string // path=yaml
	at   place
}

func textsOf(set []setting) []string {
	out := make([]string, len(set))
	for i := range set {
		out[i] = set[i].text
	}
	return out
}

// settings reads overrides: a mapping of paths, or a list of "path=yaml".
func (c *compiler) settings(v *value, path string) (out []setting) {
	switch {
	case v == nil:
	case v.kind == dict:
		for _, e := range v.entries {
			out = append(out, setting{e.key + "=" + string(e.val.appendJSON(nil)), e.place})
		}
	case v.kind == list:
		for i, it := range v.items {
			at := path + "[" + itoa(i) + "]"
			if !c.asText(it, at) {
				continue
			}
			if p, _, ok := strings.Cut(it.text, "="); !ok || p == "" {
				c.report.error(diag.BadOverride, it.place, "%s sets nothing", quoted(it.text)).Hint = "write path=value: limits.max_steps=5"
				continue
			}
			out = append(out, setting{it.text, it.place})
		}
	default:
		c.wrongType(v, path, "a mapping of paths").Hint = "write {limits.max_steps: 5}"
	}
	return out
}

// under is a spec with overrides. What is wrong with it is reported: the spec's
// own mistakes where they are, those of an override where it is written. nil =
// it does not compile, which is reported.
func (l *loader) under(at place, path string, set []setting) *Spec {
	s, found := l.programs().load(path, l.files.name(path), textsOf(set))
	for _, d := range found {
		if d.Severity != diag.Error {
			continue
		}
		if i := slices.IndexFunc(set, func(s setting) bool { return d.File == "--set "+s.text }); i >= 0 {
			l.report.error(d.Code, set[i].at, "%s", strings.ReplaceAll(d.Message, d.File, set[i].path())).Hint = d.Hint
			continue
		}
		l.report.keep(d)
	}
	switch {
	case s == nil || found.Failed():
		return nil
	case s.program == nil:
		l.report.error(diag.WrongKind, at, "%s is of kind: %s, not Agent", l.files.name(s.File), s.Kind)
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
