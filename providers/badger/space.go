package badger

// largeWrite is the size from which a write needs as much free space as opening the
// store.
const largeWrite = 256 << 10

// checkSpace fails on a nearly full disk: Badger maps its files, and a write to a mapped
// page without disk space crashes the process.
func (s *Store) checkSpace(need int64) error {
	if free, known := freeBytes(s.dir); known && free < need {
		return &FullError{Dir: s.dir, Free: free, Need: need}
	}
	return nil
}

// checkWrite is checkSpace for a write to the open store. It is written to the log and to
// a table, and opening already used some of the free space.
func (s *Store) checkWrite(size int) error {
	need := s.o.freeSpace() / 2
	if size >= largeWrite {
		need = s.o.freeSpace() + 2*int64(size)
	}
	return s.checkSpace(need)
}
