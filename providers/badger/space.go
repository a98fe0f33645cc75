package badger

// largeWrite is from how many bytes on a write must leave as much free space as
// opening the store asks for.
const largeWrite = 256 << 10

// checkSpace refuses what needs room on a disk that is nearly full: Badger maps
// its files, and a write to a mapped page that has no room kills the process.
func (s *Store) checkSpace(need int64) error {
	if free, known := freeBytes(s.dir); known && free < need {
		return &FullError{Dir: s.dir, Free: free, Need: need}
	}
	return nil
}

// checkWrite is checkSpace for a write to the open store: it comes to the log
// and to a table, and some of the free space was taken by opening.
func (s *Store) checkWrite(size int) error {
	need := s.o.freeSpace() / 2
	if size >= largeWrite {
		need = s.o.freeSpace() + 2*int64(size)
	}
	return s.checkSpace(need)
}
