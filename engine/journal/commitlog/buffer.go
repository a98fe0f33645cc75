package commitlog

// buffer is the bytes of a block in pieces of the same size, so that a large block needs no
// large array, and none is copied to grow.
type buffer struct {
	pieces [][]byte
	size   int
}

const pieceSize = 64 << 10

// write appends b. more returns an empty piece.
func (b *buffer) write(p []byte, more func() []byte) {
	b.size += len(p)
	for len(p) > 0 {
		last := len(b.pieces) - 1
		if last < 0 || len(b.pieces[last]) == pieceSize {
			b.pieces = append(b.pieces, more()[:0])
			continue
		}
		n := min(len(p), pieceSize-len(b.pieces[last]))
		b.pieces[last] = append(b.pieces[last], p[:n]...)
		p = p[n:]
	}
}
