package secret

// text is what is searched, and never copied for it.
type text interface{ string | []byte }

// scan finds every place of every needle, and says whether one of wrapped stands
// in the text without its gaps. One pass does for both: a window that moves on by
// as many bytes as skip allows passes at most as many that are in no gap.
func scan[T text](v *Values, s T) (found []hit, apart bool) {
	if v.needles.all == nil {
		return nil, false
	}
	for end := v.needles.window - 1; end < len(s); {
		a, b := s[end-1], s[end]
		h := pair(a, b)
		if class[a]|class[b] == stays && (end < 2 || s[end-2] != '\\') { // neither is in a gap
			if far := v.skip[h]; far > 0 {
				end += int(far)
				continue
			}
			if v.needles.skip[h] == 0 {
				found = at(&v.needles, s, end, h, found)
			}
			apart = apart || spelt(&v.wrapped, s, end, h)
			end++
			continue
		}
		far := v.needles.skip[h]
		if far == 0 {
			found = at(&v.needles, s, end, h, found)
		}
		if last, before := ungapped(s, end); before < 0 {
			far = 0
		} else {
			h = pair(s[before], s[last])
			apart = apart || spelt(&v.wrapped, s, last, h)
			far = min(far, v.wrapped.skip[h])
		}
		end += max(1, int(far))
	}
	return found, apart
}

// ungapped is the places of the last two bytes up to end that are in no gap; one
// that is not there is negative.
func ungapped[T text](s T, end int) (last, before int) {
	last = end
	if inGap(s, last) {
		last = back(s, last)
	}
	return last, back(s, last)
}

// spelt says whether a needle stands in a text with gaps, where the last two
// bytes of its window are of the hash h and the last of them is at end.
func spelt[T text](n *needles, s T, end int, h uint16) bool {
	if n.skip[h] > 0 {
		return false
	}
	for _, x := range n.ends[h] {
		if spells(s, end, x.text[:n.window], x.text[n.window:]) {
			return true
		}
	}
	return false
}

// spells says whether a text with gaps has before up to end, and after behind it.
func spells[T text](s T, end int, before, after string) bool {
	at := end
	for i := len(before) - 1; i >= 0; i-- {
		if at < 0 || s[at] != before[i] {
			return false
		}
		at = back(s, at)
	}
	at = end
	for i := range len(after) {
		for at++; at < len(s) && inGap(s, at); at++ {
		}
		if at >= len(s) || s[at] != after[i] {
			return false
		}
	}
	return true
}

// back is the place of the last byte before at that is in no gap, or -1.
func back[T text](s T, at int) int {
	for at--; at >= 0 && inGap(s, at); at-- {
	}
	return at
}

// inGap says whether a byte belongs to a gap, see squeezed.
func inGap[T text](s T, at int) bool {
	switch s[at] {
	case ' ', '\t', '\n', '\r':
		return true
	case '\\', '=':
		return gapAt(s[at:]) > 0
	case 'n', 'r', 't':
		return at > 0 && s[at-1] == '\\'
	}
	return false
}
