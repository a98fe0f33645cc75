package commitlog

// Scan returns the frames of a segment and the offset of its damage, -1 = none.
func Scan(b []byte) (frames []Frame, damaged int) {
	s := scanSegment(b)
	return s.frames, s.damaged
}
