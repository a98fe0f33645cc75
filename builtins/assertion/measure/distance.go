package measure

// MaxLetters is the maximum number of letters that Distance compares per text, not
// counting a common prefix and suffix.
const MaxLetters = 50_000

// Distance returns the minimum number of letters (runes) to insert, delete or replace to
// turn one text into the other. If the texts are too long to compare, exact is false and
// n is a lower bound.
func Distance(a, b string) (n int, exact bool) {
	x, y := []rune(a), []rune(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	switch {
	case len(x) == 0 || len(y) == 0:
		return max(len(x), len(y)), true
	case len(x) > MaxLetters || len(y) > MaxLetters:
		return max(len(x)-len(y), len(y)-len(x), 1), false
	}
	return distance(x, y), true
}

// distance processes 64 cells of a column at a time (Myers 1999, in blocks as in Hyyrö
// 2003). The bits encode whether the distance grows or shrinks by one along the column.
func distance(x, y []rune) int {
	blocks := (len(x) + 63) / 64
	places := map[rune][]uint64{}
	for i, r := range x {
		if places[r] == nil {
			places[r] = make([]uint64, blocks)
		}
		places[r][i/64] |= 1 << (i % 64)
	}
	none := make([]uint64, blocks)
	up, down := make([]uint64, blocks), make([]uint64, blocks)
	for i := range up {
		up[i] = ^uint64(0)
	}
	out, last := len(x), uint64(1)<<((len(x)-1)%64)
	for _, r := range y {
		mask := places[r]
		if mask == nil {
			mask = none
		}
		in, inUp := uint64(0), true // input from the block above; the first row always grows by one
		for i := range blocks {
			top := uint64(1) << 63
			if i == blocks-1 {
				top = last
			}
			grew, shrank := step(&up[i], &down[i], mask[i], in, inUp, top)
			if i == blocks-1 {
				switch {
				case grew:
					out++
				case shrank:
					out--
				}
			}
			in, inUp = 0, grew
			if shrank {
				in = 1
			}
		}
	}
	return out
}

// step advances one block of a column by one letter. less and more report whether the row
// above shrank or grew. top is the bit of the block's last row, whose change is returned.
func step(up, down *uint64, mask, less uint64, more bool, top uint64) (grew, shrank bool) {
	pv, mv := *up, *down
	xv := mask | mv
	mask |= less
	xh := (((mask & pv) + pv) ^ pv) | mask
	ph, mh := mv|^(xh|pv), pv&xh
	grew, shrank = ph&top != 0, mh&top != 0
	ph <<= 1
	if more {
		ph |= 1
	}
	mh = mh<<1 | less
	*up, *down = mh|^(xv|ph), ph&xv
	return grew, shrank
}
