package secret

import "strings"

// PlainScan searches only for values without gaps, to measure the cost of a search.
func (v *Values) PlainScan(s string) int { return len(v.needles.in(s)) }

// SlowText is a naive implementation of Text: it compares each form of each value at each
// offset, then does the same in the text without its gaps.
func (v *Values) SlowText(s string) (clean string, found bool) {
	every := func(n *needles, s string) (found []hit) {
		for from := range len(s) {
			for _, x := range n.all {
				if strings.HasPrefix(s[from:], x.text) {
					found = append(found, hit{from: from, to: from + len(x.text), name: x.name, mark: x.mark, secret: true})
				}
			}
		}
		return found
	}
	all := every(&v.needles, s)
	var places []int
	if bare := withoutGaps(s, &places); len(bare) < len(s) {
		for _, h := range every(&v.wrapped, bare) {
			h.from, h.to = places[h.from], places[h.to-1]+1
			all = append(all, h)
		}
	}
	hits := mergeHits(all)
	if len(hits) == 0 {
		return s, false
	}
	return replace(s, 0, hits), true
}
