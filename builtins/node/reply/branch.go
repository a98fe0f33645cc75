package reply

// branches is a path through the choices of a reader: where a text can be read
// in more than one way, the reader asks which way to take, and is run again for
// the next one.
type branches struct {
	taken, width []uint8
	next         int
	full         bool // a choice was not followed up
}

// maxBranches bounds the choices of one reading: a text with more of them is
// ambiguous beyond use.
const maxBranches = 64

// choose returns the alternative to take, of n; the first one comes first.
func (b *branches) choose(n int) int {
	if n < 2 {
		return 0
	}
	if b.next == len(b.taken) {
		if b.next == maxBranches {
			b.full = true
			return 0
		}
		b.taken, b.width = append(b.taken, 0), append(b.width, uint8(n))
	}
	b.next++
	return int(b.taken[b.next-1])
}

// advance moves to the next path; false means that there is none.
func (b *branches) advance() bool {
	b.next = 0
	for i := len(b.taken) - 1; i >= 0; i-- {
		if b.taken[i]+1 < b.width[i] {
			b.taken[i]++
			b.taken, b.width = b.taken[:i+1], b.width[:i+1]
			return true
		}
	}
	return false
}
