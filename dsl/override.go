package dsl

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// envPrefix is the prefix of environment variables that are overrides.
const envPrefix = "PEX_SET_"

// override applies PEX_SET_* in the order of their names, then --set in the given
// order, so that flags win.
func (l *loader) override(tree *syntax.Node) {
	env := slices.DeleteFunc(slices.Clone(l.options.Environ), func(s string) bool { return !strings.HasPrefix(s, envPrefix) })
	slices.SortFunc(env, func(a, b string) int { return cmp.Compare(a, b) })
	for _, s := range env {
		name, text, _ := strings.Cut(s, "=")
		path := strings.ReplaceAll(strings.TrimPrefix(name, envPrefix), "__", ".")
		l.set(tree, &syntax.Source{Name: name, Text: []byte(s), Kind: syntax.Environment}, path, text, len(name)+1)
	}
	for _, s := range l.options.Set {
		path, text, ok := strings.Cut(s, "=")
		src := &syntax.Source{Name: "--set " + s, Text: []byte(s), Kind: syntax.Flag}
		if !ok {
			l.Report.Error(diag.BadOverride, syntax.Position{Source: src, Line: 1, Column: 1}, "--set %s has no value", syntax.Quote(s)).Hint = "write PATH=VALUE: limits.max_steps=5"
			continue
		}
		l.set(tree, src, path, text, len(path)+1)
	}
}

// segment is one part of an override's path.
type segment struct {
	key   string
	index int // index in a list; -1 for a key
	place syntax.Position
}

// set applies one override. Its text starts at byte at of the source.
func (l *loader) set(tree *syntax.Node, src *syntax.Source, path, text string, at int) {
	segments, ok := splitPath(src, path, at-1-len(path))
	if !ok {
		l.Report.Error(diag.BadOverride, syntax.Position{Source: src, Line: 1, Column: 1}, "invalid path %s", syntax.Quote(path)).Hint = "write a dotted path: guards.0.when"
		return
	}
	if key := strings.ToLower(segments[0].key); key == "include" || key == "extends" {
		l.Report.Error(diag.BadOverride, segments[0].place, "%s cannot be overridden", key).Hint = "override the keys that the files define: llms.main.model=..."
		return
	}
	val := parseSetting(src, text, at, l.Report)
	if val == nil {
		return
	}
	into := tree
	for segments = joinSegments(into, segments, src.Kind); len(segments) > 1; segments = joinSegments(into, segments[1:], src.Kind) {
		if into = l.step(into, segments[0], segments[1], src); into == nil {
			return
		}
	}
	l.put(into, segments[0], val)
}

// splitPath parses a.b.0 and a.b[0]. Keys of an environment variable match in any
// case.
func splitPath(src *syntax.Source, path string, offset int) ([]segment, bool) {
	var out []segment
	if src.Kind == syntax.Environment {
		offset = len(envPrefix)
	}
	for part := range strings.SplitSeq(path, ".") {
		key, rest, indexed := strings.Cut(part, "[")
		at := src.PositionAt(max(offset, 0))
		offset += len(part) + 1
		if key == "" {
			return nil, false
		}
		out = append(out, newSegment(key, at))
		for indexed {
			var digits string
			var closed bool
			digits, rest, closed = strings.Cut(rest, "]")
			n, err := strconv.Atoi(digits)
			if !closed || err != nil || n < 0 {
				return nil, false
			}
			out = append(out, segment{key: digits, index: n, place: at})
			if indexed = rest != ""; indexed && rest[0] != '[' {
				return nil, false
			}
			rest = strings.TrimPrefix(rest, "[")
		}
	}
	return out, true
}

func newSegment(key string, at syntax.Position) segment {
	n, err := strconv.Atoi(key)
	if err != nil || n < 0 {
		n = -1
	}
	return segment{key: key, index: n, place: at}
}

// joinSegments joins the first segments if a mapping has a key with their
// spelling: an exact dotted name wins over a path.
func joinSegments(v *syntax.Node, segments []segment, from syntax.SourceKind) []segment {
	if v.Kind != syntax.Map {
		return segments
	}
	keys := make([]string, len(segments))
	for i, s := range segments {
		keys[i] = s.key
	}
	for n := len(segments); n > 1; n-- {
		name := strings.Join(keys[:n], ".")
		if entryFor(v, name, from) != nil {
			return append([]segment{{key: name, index: -1, place: segments[0].place}}, segments[n:]...)
		}
	}
	return segments
}

// parseSetting parses the value of an override as YAML. Text that is not valid
// YAML must be quoted.
func parseSetting(src *syntax.Source, text string, at int, r *syntax.Report) *syntax.Node {
	inner := &syntax.Source{Name: src.Name, Text: []byte(text), Kind: src.Kind}
	sub := &syntax.Report{}
	v := syntax.Parse(inner, sub)
	for _, d := range sub.List {
		e := r.Add(d.Code, d.Severity, src.PositionAt(at), "the value is not valid YAML: %s", d.Message)
		e.Hint = d.Hint
	}
	if v == nil || sub.List.Failed() {
		return nil
	}
	moveTo(v, src, len([]rune(string(src.Text[:at]))))
	return v
}

// moveTo moves the positions of a one-line value to the source that contains its
// text.
func moveTo(v *syntax.Node, src *syntax.Source, by int) {
	v.Source = src
	if v.Line == 1 {
		v.Column += by
	}
	for _, it := range v.Items {
		moveTo(it, src, by)
	}
	for _, e := range v.Entries {
		if e.Position.Source = src; e.Position.Line == 1 {
			e.Position.Column += by
		}
		moveTo(e.Value, src, by)
	}
}

// step returns the value at a segment, and creates it if it is missing: a list if
// the next segment is an index, otherwise a mapping.
func (l *loader) step(v *syntax.Node, s, next segment, src *syntax.Source) *syntax.Node {
	below := &syntax.Node{Position: s.place, Kind: syntax.Map}
	if next.index >= 0 {
		below.Kind = syntax.List
	}
	switch {
	case v.Kind == syntax.List && s.index >= 0 && s.index < len(v.Items):
		return orEmpty(v.Items[s.index], below)
	case v.Kind == syntax.List && s.index == len(v.Items):
		v.Items = append(v.Items, below)
		return below
	case v.Kind == syntax.Map:
		e := entryFor(v, s.key, src.Kind)
		if e == nil {
			v.Set(keyFor(s.key, src.Kind), s.place, below)
			return below
		}
		return orEmpty(e.Value, below)
	}
	l.noSuch(v, s)
	return nil
}

// orEmpty replaces a null by an empty mapping or list, so that a path can
// continue.
func orEmpty(v *syntax.Node, empty *syntax.Node) *syntax.Node {
	if v.Kind == syntax.Null {
		*v = *empty
	}
	return v
}

func (l *loader) put(v *syntax.Node, s segment, val *syntax.Node) {
	switch {
	case v.Kind == syntax.List && s.index >= 0 && s.index < len(v.Items):
		v.Items[s.index] = val
	case v.Kind == syntax.List && s.index == len(v.Items):
		v.Items = append(v.Items, val)
	case v.Kind == syntax.Map:
		if e := entryFor(v, s.key, s.place.Source.Kind); e != nil {
			e.Position, e.Value = s.place, val
			return
		}
		v.Set(keyFor(s.key, s.place.Source.Kind), s.place, val)
	default:
		l.noSuch(v, s)
	}
}

func (l *loader) noSuch(v *syntax.Node, s segment) {
	d := l.Report.Error(diag.BadOverride, s.place, "%s: the path does not exist: %s has no entry %s", s.place.Source.Name, v.Describe(), syntax.Quote(s.key))
	if v.Kind == syntax.List {
		d.Hint = "the list has " + strconv.Itoa(len(v.Items)) + " entries; indexes start at 0"
	}
}

// entryFor returns the entry of a key, in any case for an environment variable.
func entryFor(v *syntax.Node, key string, from syntax.SourceKind) *syntax.Entry {
	if e := v.Find(key); e != nil || from != syntax.Environment {
		return e
	}
	i := slices.IndexFunc(v.Entries, func(e *syntax.Entry) bool { return strings.EqualFold(e.Key, key) })
	if i < 0 {
		return nil
	}
	return v.Entries[i]
}

func keyFor(key string, from syntax.SourceKind) string {
	if from == syntax.Environment {
		return strings.ToLower(key)
	}
	return key
}
