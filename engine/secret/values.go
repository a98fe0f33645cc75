package secret

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Values are secrets that are known by value. They find each value as it is
// and as programs write it: in JSON (also in JSON within JSON), in URLs, in
// HTML, in base64 at any place of what was encoded, and in hex; and the parts
// of it that are secret by themselves, such as the password of an address. A
// nil *Values finds nothing. Safe for concurrent use.
type Values struct {
	needles needles
	wrapped needles // looked for in a text without white space
	skip    []uint8 // the lesser of what both allow
	folders []folder
	short   []string
}

// New takes names to values: the environment variables of a spec, say. Empty
// values are left out.
func New(values map[string]string) *Values {
	v := &Values{}
	var all, apart []needle
	for _, name := range slices.Sorted(maps.Keys(values)) { // of names with the same value the first counts
		value := strings.TrimSpace(values[name])
		if value == "" {
			continue
		}
		if tooCommon(value) {
			v.short = append(v.short, name)
			continue
		}
		all = append(all, needlesOf(value, name, "[redacted "+name+"]", written)...)
		apart = append(apart, needlesOf(value, name, "[redacted "+name+"]", wrapped)...)
	}
	v.look(all, apart)
	return v
}

// Unnamed are secrets that have no name: [redacted] stands for each of them.
func Unnamed(values []string) *Values {
	var all, apart []needle
	for _, value := range values {
		if value = strings.TrimSpace(value); !tooCommon(value) {
			all = append(all, needlesOf(value, "", "[redacted]", written)...)
			apart = append(apart, needlesOf(value, "", "[redacted]", wrapped)...)
		}
	}
	v := &Values{}
	v.look(all, apart)
	return v
}

// look makes v look for needles, and for others in texts without gaps.
func (v *Values) look(all, apart []needle) {
	window := min(shortest(all), shortest(apart))
	v.needles, v.wrapped = newNeedles(all, window), newNeedles(apart, window)
	v.skip = make([]uint8, len(v.needles.skip))
	for i := range v.skip {
		v.skip[i] = min(v.needles.skip[i], v.wrapped.skip[i])
	}
}

// needlesOf is a value in all forms, and its parts.
func needlesOf(value, name, mark string, forms func(string) []string) []needle {
	var out []needle
	for _, part := range parts(value) {
		for _, text := range forms(part) {
			out = append(out, needle{text, name, mark})
		}
	}
	return out
}

// Short names the secrets that are too short, or too common a word, to be
// looked for, sorted.
func (v *Values) Short() []string {
	if v == nil {
		return nil
	}
	return v.short
}

// Text is s with each value replaced; found says whether there was one.
func (v *Values) Text(s string) (clean string, found bool) {
	hits := v.hits(s)
	if len(hits) == 0 {
		return s, false
	}
	return replace(s, 0, hits), true
}

// Segments is a text in pieces, replaced as the whole that they make: a value
// that begins in one piece and ends in another is found too. Pieces that hold
// nothing of one come back as they are.
func (v *Values) Segments(pieces []string) (clean []string, found bool) {
	hits := v.hits(strings.Join(pieces, ""))
	if len(hits) == 0 {
		return pieces, false
	}
	clean = make([]string, len(pieces))
	at := 0
	for i, p := range pieces {
		clean[i] = replace(p, at, hits)
		at += len(p)
	}
	return clean, true
}

// Named is the name of a secret that s holds in any form, or "".
func (v *Values) Named(s string) string {
	for _, h := range v.hits(s) {
		if h.name != "" {
			return h.name
		}
	}
	return ""
}

// hit is a place to be replaced.
type hit struct {
	from, to int
	name     string // of a secret
	mark     string // what stands for it
	secret   bool   // else it is a folder
}

// hits are in order and do not touch; of forms that overlap all is taken.
func (v *Values) hits(s string) []hit {
	if v == nil {
		return nil
	}
	all, apart := scan(v, s)
	if apart {
		all = append(all, v.squeezedHits(s)...)
	}
	for _, f := range v.folders {
		all = append(all, f.in(s)...)
	}
	return merged(all)
}

// merged puts hits in order and makes one of those that touch.
func merged(all []hit) []hit {
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	merged := all[:0]
	for _, h := range all {
		k := len(merged) - 1
		if k < 0 || h.from >= merged[k].to {
			merged = append(merged, h)
			continue
		}
		merged[k].to = max(merged[k].to, h.to)
		if h.secret && !merged[k].secret { // a secret within a path is still one
			merged[k].name, merged[k].mark, merged[k].secret = h.name, h.mark, true
		}
	}
	return merged
}

// replace is a piece of a text, which begins at byte at of it, without the
// hits. What stands for a hit stands in the piece where the hit begins.
func replace(piece string, at int, hits []hit) string {
	var b strings.Builder
	end, done := at+len(piece), at
	for _, h := range hits {
		if h.to <= at || h.from >= end {
			continue
		}
		if h.from >= at {
			b.WriteString(piece[done-at : h.from-at])
			b.WriteString(h.mark)
		}
		done = min(h.to, end)
	}
	if done == at && b.Len() == 0 {
		return piece
	}
	b.WriteString(piece[done-at:])
	return b.String()
}
