package secret

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Values redacts known secrets. It finds each value as it is and as programs encode it:
// in JSON (also nested), URLs, HTML, base64 at any offset of the encoded data, and hex;
// and its parts that are secrets themselves, such as the password in a URL. A nil *Values
// finds nothing. Safe for concurrent use.
type Values struct {
	needles needles
	wrapped needles // searched in text without white space
	skip    []uint8 // minimum of both
	folders []folder
	short   []string
}

// New returns the Values of named secrets, such as the environment variables of a spec.
// Empty values are ignored.
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
		all = append(all, needlesOf(value, name, "[redacted "+name+"]", encodings)...)
		apart = append(apart, needlesOf(value, name, "[redacted "+name+"]", gapForms)...)
	}
	v.setNeedles(all, apart)
	return v
}

// Unnamed returns the Values of secrets without names, replaced by [redacted].
func Unnamed(values []string) *Values {
	var all, apart []needle
	for _, value := range values {
		if value = strings.TrimSpace(value); !tooCommon(value) {
			all = append(all, needlesOf(value, "", "[redacted]", encodings)...)
			apart = append(apart, needlesOf(value, "", "[redacted]", gapForms)...)
		}
	}
	v := &Values{}
	v.setNeedles(all, apart)
	return v
}

// setNeedles sets the needles for texts with and without gaps.
func (v *Values) setNeedles(all, apart []needle) {
	window := min(shortest(all), shortest(apart))
	v.needles, v.wrapped = newNeedles(all, window), newNeedles(apart, window)
	v.skip = make([]uint8, len(v.needles.skip))
	for i := range v.skip {
		v.skip[i] = min(v.needles.skip[i], v.wrapped.skip[i])
	}
}

// needlesOf returns the needles of a value and its parts in all encodings.
func needlesOf(value, name, mark string, forms func(string) []string) []needle {
	var out []needle
	for _, part := range parts(value) {
		for _, text := range forms(part) {
			out = append(out, needle{text, name, mark})
		}
	}
	return out
}

// Short returns the sorted names of secrets that are too short or too common to be
// searched.
func (v *Values) Short() []string {
	if v == nil {
		return nil
	}
	return v.short
}

// Text returns s with each value redacted; found reports whether there was one.
func (v *Values) Text(s string) (clean string, found bool) {
	hits := v.hits(s)
	if len(hits) == 0 {
		return s, false
	}
	return replace(s, 0, hits), true
}

// Segments redacts a text in pieces, including values that span pieces. Unaffected pieces
// are returned unchanged.
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

// NameOf returns the name of a secret that s contains in any encoding, or "".
func (v *Values) NameOf(s string) string {
	for _, h := range v.hits(s) {
		if h.name != "" {
			return h.name
		}
	}
	return ""
}

// hit is an occurrence to replace.
type hit struct {
	from, to int
	name     string // of a secret
	mark     string // the replacement
	secret   bool   // false = a folder
}

// hits returns ordered, disjoint hits; overlapping ones are merged.
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
	return mergeHits(all)
}

// mergeHits sorts hits and merges overlapping ones.
func mergeHits(all []hit) []hit {
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	merged := all[:0]
	for _, h := range all {
		k := len(merged) - 1
		if k < 0 || h.from >= merged[k].to {
			merged = append(merged, h)
			continue
		}
		merged[k].to = max(merged[k].to, h.to)
		if h.secret && !merged[k].secret { // a secret within a path stays a secret
			merged[k].name, merged[k].mark, merged[k].secret = h.name, h.mark, true
		}
	}
	return merged
}

// replace returns a piece of a text, at offset at, with hits replaced. The replacement is
// in the piece where the hit starts.
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
