package secret

import "strings"

// needle is one encoding of one value.
type needle struct{ text, name, mark string }

// needles are searched simultaneously: the last two bytes of a window as long as the
// shortest needle determine how far to advance, usually nearly its whole length (Wu and
// Manber).
type needles struct {
	all     []needle
	window  int
	longest int
	skip    []uint8             // by hash of two bytes
	ends    map[uint16][]needle // needles by the hash of the last two bytes of their first window
	begins  [256][]string       // needles by first byte
}

// newNeedles indexes needles; of equal texts the first counts. None may be shorter than
// the window.
func newNeedles(all []needle, window int) needles {
	seen := map[string]bool{}
	n := needles{window: window}
	for _, x := range all {
		if !seen[x.text] {
			seen[x.text] = true
			n.all = append(n.all, x)
			n.longest = max(n.longest, len(x.text))
			n.begins[x.text[0]] = append(n.begins[x.text[0]], x.text)
		}
	}
	if n.all == nil {
		return n
	}
	n.skip, n.ends = make([]uint8, pairs), map[uint16][]needle{}
	for i := range n.skip {
		n.skip[i] = uint8(n.window - 1)
	}
	for _, x := range n.all {
		for i := 1; i < n.window; i++ {
			h := pair(x.text[i-1], x.text[i])
			n.skip[h] = min(n.skip[h], uint8(n.window-1-i))
		}
		h := pair(x.text[n.window-2], x.text[n.window-1])
		n.ends[h] = append(n.ends[h], x)
	}
	return n
}

// longestWindow is the maximum that skip can hold.
const longestWindow = 256

// shortest returns the length of the shortest needle, at most longestWindow.
func shortest(all []needle) int {
	n := longestWindow
	for _, x := range all {
		n = min(n, len(x.text))
	}
	return n
}

const pairs = 1 << 12

func pair(a, b byte) uint16 { return (uint16(a)<<5 ^ uint16(b)) & (pairs - 1) }

// in finds all occurrences of all needles.
func (n *needles) in(s string) (found []hit) {
	if n.all == nil {
		return nil
	}
	for end := n.window - 1; end < len(s); {
		h := pair(s[end-1], s[end])
		if far := n.skip[h]; far > 0 {
			end += int(far)
			continue
		}
		found = at(n, s, end, h, found)
		end++
	}
	return found
}

// at adds the needles whose window ends at an offset with hash h.
func at[T haystack](n *needles, s T, end int, h uint16, found []hit) []hit {
	from := end - n.window + 1
	for _, x := range n.ends[h] {
		if len(s)-from >= len(x.text) && string(s[from:from+len(x.text)]) == x.text {
			found = append(found, hit{from: from, to: from + len(x.text), name: x.name, mark: x.mark, secret: true})
		}
	}
	return found
}

// open returns the offset of the first needle that may continue after the text, or the
// text's length.
func (n *needles) open(s string) int {
	for from := max(0, len(s)-n.longest); from < len(s); from++ {
		rest := s[from:]
		for _, text := range n.begins[s[from]] {
			if len(rest) < len(text) && strings.HasPrefix(text, rest) {
				return from
			}
		}
	}
	return len(s)
}
