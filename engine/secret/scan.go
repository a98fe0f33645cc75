package secret

// haystack is the text that scan searches, without copying.
type haystack interface{ string | []byte }

// scan finds all occurrences of all needles, and reports whether one of gapForms occurs
// in the text without its gaps, in one pass.
func scan[T haystack](v *Values, s T) (found []hit, apart bool) {
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
			apart = apart || spelledWithGaps(&v.wrapped, s, end, h)
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
			apart = apart || spelledWithGaps(&v.wrapped, s, last, h)
			far = min(far, v.wrapped.skip[h])
		}
		end += max(1, int(far))
	}
	return found, apart
}

// ungapped returns the offsets of the last two bytes up to end outside of gaps; negative
// if missing.
func ungapped[T haystack](s T, end int) (last, before int) {
	last = end
	if inGap(s, last) {
		last = previousByte(s, last)
	}
	return last, previousByte(s, last)
}

// spelledWithGaps reports whether a needle occurs in a text with gaps, where the last two
// bytes of its window have hash h and end at end.
func spelledWithGaps[T haystack](n *needles, s T, end int, h uint16) bool {
	if n.skip[h] > 0 {
		return false
	}
	for _, x := range n.ends[h] {
		if matchesWithGaps(s, end, x.text[:n.window], x.text[n.window:]) {
			return true
		}
	}
	return false
}

// matchesWithGaps reports whether a text with gaps has before up to end, and after
// following it.
func matchesWithGaps[T haystack](s T, end int, before, after string) bool {
	at := end
	for i := len(before) - 1; i >= 0; i-- {
		if at < 0 || s[at] != before[i] {
			return false
		}
		at = previousByte(s, at)
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

// previousByte returns the offset of the last byte before at outside of gaps, or -1.
func previousByte[T haystack](s T, at int) int {
	for at--; at >= 0 && inGap(s, at); at-- {
	}
	return at
}

// inGap reports whether a byte belongs to a gap, see withoutGaps.
func inGap[T haystack](s T, at int) bool {
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
