package reply

// branches is a path through the choices of a reader. Where a text is ambiguous, the
// reader calls choose, and the whole text is read again for the next path.
type branches struct {
	choices, width []uint8
	next           int
	overflow       bool // there were more choices than maxBranches
}

// maxBranches is the maximum number of choices in one reading. A text with more is too
// ambiguous to use.
const maxBranches = 64

// choose returns which of n alternatives to take, starting with 0.
func (b *branches) choose(n int) int {
	if n < 2 {
		return 0
	}
	if b.next == len(b.choices) {
		if b.next == maxBranches {
			b.overflow = true
			return 0
		}
		b.choices, b.width = append(b.choices, 0), append(b.width, uint8(n))
	}
	b.next++
	return int(b.choices[b.next-1])
}

// advance moves to the next path. It returns false if there is none.
func (b *branches) advance() bool {
	b.next = 0
	for i := len(b.choices) - 1; i >= 0; i-- {
		if b.choices[i]+1 < b.width[i] {
			b.choices[i]++
			b.choices, b.width = b.choices[:i+1], b.width[:i+1]
			return true
		}
	}
	return false
}
