package secret

import (
	"cmp"
	"slices"
	"strings"
)

// Shortest is the length in bytes from which a value is looked for: shorter
// ones would tear up ordinary words.
const Shortest = 6

// Values are secrets that are known by value. They find each value as it is
// and as programs write it: in JSON (also in JSON within JSON), in URLs, in
// base64 at any place of what was encoded, and in hex. A nil *Values finds
// nothing. Safe for concurrent use.
type Values struct {
	needles []needle
	folders []folder
	short   []string
}

// needle is one form of one value.
type needle struct{ text, name string }

// New takes names to values: the environment variables of a spec, say. Empty
// values are left out.
func New(values map[string]string) *Values {
	v := &Values{}
	seen := map[string]bool{}
	for name, value := range values {
		value = strings.TrimSpace(value)
		if value == "" {
			continue
		}
		if len(value) < Shortest {
			v.short = append(v.short, name)
			continue
		}
		for _, text := range written(value) {
			v.needles = append(v.needles, needle{text, name})
		}
	}
	slices.Sort(v.short)
	// Of names with the same value the first counts, however the map was walked.
	slices.SortFunc(v.needles, func(a, b needle) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.text, b.text)) })
	v.needles = slices.DeleteFunc(v.needles, func(n needle) bool {
		again := seen[n.text]
		seen[n.text] = true
		return again
	})
	return v
}

// Short names the secrets that are too short to be looked for, sorted.
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
	name     string // of a secret; "" = it is a folder
	word     string // of a folder
}

// mark is what stands for it.
func (h hit) mark() string {
	if h.name == "" {
		return h.word
	}
	return "[redacted " + h.name + "]"
}

// hits are in order and do not touch; of forms that overlap all is taken.
func (v *Values) hits(s string) []hit {
	if v == nil {
		return nil
	}
	var all []hit
	for _, n := range v.needles {
		for from := 0; ; {
			i := strings.Index(s[from:], n.text)
			if i < 0 {
				break
			}
			from += i
			all = append(all, hit{from: from, to: from + len(n.text), name: n.name})
			from++
		}
	}
	for _, f := range v.folders {
		all = append(all, f.in(s)...)
	}
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })
	merged := all[:0]
	for _, h := range all {
		if k := len(merged) - 1; k >= 0 && h.from < merged[k].to {
			merged[k].to = max(merged[k].to, h.to)
			if merged[k].name == "" {
				merged[k].name = h.name // a secret within a path is still one
			}
			continue
		}
		merged = append(merged, h)
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
			b.WriteString(h.mark())
		}
		done = min(h.to, end)
	}
	if done == at && b.Len() == 0 {
		return piece
	}
	b.WriteString(piece[done-at:])
	return b.String()
}
