package dsl

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// envPrefix marks the environment variables that are overrides.
const envPrefix = "PEX_SET_"

// override applies PEX_SET_* in the order of their names, then --set in the
// order given, so that the flag is the stronger.
func (l *loader) override(tree *value) {
	env := slices.DeleteFunc(slices.Clone(l.options.Environ), func(s string) bool { return !strings.HasPrefix(s, envPrefix) })
	slices.SortFunc(env, func(a, b string) int { return cmp.Compare(a, b) })
	for _, s := range env {
		name, text, _ := strings.Cut(s, "=")
		path := strings.ReplaceAll(strings.TrimPrefix(name, envPrefix), "__", ".")
		l.set(tree, &source{name: name, text: []byte(s), kind: envText}, path, text, len(name)+1)
	}
	for _, s := range l.options.Set {
		path, text, ok := strings.Cut(s, "=")
		src := &source{name: "--set " + s, text: []byte(s), kind: flagText}
		if !ok {
			l.report.error(diag.BadOverride, place{src, 1, 1}, "%s sets nothing", quoted(s)).Hint = "write path=value: limits.max_steps=5"
			continue
		}
		l.set(tree, src, path, text, len(path)+1)
	}
}

// segment is one part of an override's path.
type segment struct {
	key   string
	index int // of a list; -1 = a key
	place place
}

// set applies one override; text begins at byte at of the source.
func (l *loader) set(tree *value, src *source, path, text string, at int) {
	segments, ok := splitPath(src, path, at-1-len(path))
	if !ok {
		l.report.error(diag.BadOverride, place{src, 1, 1}, "%s is no path", quoted(path)).Hint = "write dotted names: guards.0.when"
		return
	}
	if key := strings.ToLower(segments[0].key); key == "include" || key == "extends" {
		l.report.error(diag.BadOverride, segments[0].place, "what a spec %s cannot be overridden", strings.TrimSuffix(key, "s")+"s").Hint = "override what the files define: llms.main.model=..."
		return
	}
	val := parseSetting(src, text, at, l.report)
	if val == nil {
		return
	}
	into := tree
	for segments = into.joined(segments, src.kind); len(segments) > 1; segments = into.joined(segments[1:], src.kind) {
		if into = l.step(into, segments[0], segments[1], src); into == nil {
			return
		}
	}
	l.put(into, segments[0], val)
}

// splitPath reads a.b.0 and a.b[0]. A key of an environment variable finds
// what it means whatever its case.
func splitPath(src *source, path string, offset int) ([]segment, bool) {
	var out []segment
	if src.kind == envText {
		offset = len(envPrefix)
	}
	for part := range strings.SplitSeq(path, ".") {
		key, rest, indexed := strings.Cut(part, "[")
		at := src.at(max(offset, 0))
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

func newSegment(key string, at place) segment {
	n, err := strconv.Atoi(key)
	if err != nil || n < 0 {
		n = -1
	}
	return segment{key: key, index: n, place: at}
}

// joined takes the first segments as one where a mapping has a key of their
// spelling: an exact dotted name beats a path.
func (v *value) joined(segments []segment, from sourceKind) []segment {
	if v.kind != dict {
		return segments
	}
	keys := make([]string, len(segments))
	for i, s := range segments {
		keys[i] = s.key
	}
	for n := len(segments); n > 1; n-- {
		name := strings.Join(keys[:n], ".")
		if v.meant(name, from) != nil {
			return append([]segment{{key: name, index: -1, place: segments[0].place}}, segments[n:]...)
		}
	}
	return segments
}

// parseSetting reads the value of an override as YAML. Text that YAML would
// take apart is quoted by its author.
func parseSetting(src *source, text string, at int, r *report) *value {
	inner := &source{name: src.name, text: []byte(text), kind: src.kind}
	sub := &report{}
	v := parse(inner, sub)
	for _, d := range sub.list {
		e := r.add(d.Code, d.Severity, src.at(at), "the value is not YAML: %s", d.Message)
		e.Hint = d.Hint
	}
	if v == nil || sub.list.Failed() {
		return nil
	}
	v.move(src, len([]rune(string(src.text[:at]))))
	return v
}

// move places a value of one line into the source that holds its text.
func (v *value) move(src *source, by int) {
	v.src = src
	if v.line == 1 {
		v.col += by
	}
	for _, it := range v.items {
		it.move(src, by)
	}
	for _, e := range v.entries {
		if e.place.src = src; e.place.line == 1 {
			e.place.col += by
		}
		e.val.move(src, by)
	}
}

// step goes one segment down and makes what is missing: a list where the next
// segment is an index, else a mapping.
func (l *loader) step(v *value, s, next segment, src *source) *value {
	below := &value{place: s.place, kind: dict}
	if next.index >= 0 {
		below.kind = list
	}
	switch {
	case v.kind == list && s.index >= 0 && s.index < len(v.items):
		return v.items[s.index].orEmpty(below)
	case v.kind == list && s.index == len(v.items):
		v.items = append(v.items, below)
		return below
	case v.kind == dict:
		e := v.meant(s.key, src.kind)
		if e == nil {
			v.set(keyFor(s.key, src.kind), s.place, below)
			return below
		}
		return e.val.orEmpty(below)
	}
	l.noSuch(v, s)
	return nil
}

// orEmpty makes a null into what a path goes on through.
func (v *value) orEmpty(empty *value) *value {
	if v.kind == null {
		*v = *empty
	}
	return v
}

func (l *loader) put(v *value, s segment, val *value) {
	switch {
	case v.kind == list && s.index >= 0 && s.index < len(v.items):
		v.items[s.index] = val
	case v.kind == list && s.index == len(v.items):
		v.items = append(v.items, val)
	case v.kind == dict:
		if e := v.meant(s.key, s.place.src.kind); e != nil {
			e.place, e.val = s.place, val
			return
		}
		v.set(keyFor(s.key, s.place.src.kind), s.place, val)
	default:
		l.noSuch(v, s)
	}
}

func (l *loader) noSuch(v *value, s segment) {
	d := l.report.error(diag.BadOverride, s.place, "%s does not lead anywhere: %s has no part %s", s.place.src.name, v.describe(), s.key)
	if v.kind == list {
		d.Hint = "the list has " + itoa(len(v.items)) + " entries, counted from 0"
	}
}

// meant finds the entry of a key, for an environment variable in any case.
func (v *value) meant(key string, from sourceKind) *entry {
	if e := v.find(key); e != nil || from != envText {
		return e
	}
	i := slices.IndexFunc(v.entries, func(e *entry) bool { return strings.EqualFold(e.key, key) })
	if i < 0 {
		return nil
	}
	return v.entries[i]
}

func keyFor(key string, from sourceKind) string {
	if from == envText {
		return strings.ToLower(key)
	}
	return key
}

func itoa(n int) string { return strconv.Itoa(n) }
