package commitlog

import (
	"os"

	"github.com/pexctl/pex/engine/regular"
)

// disk is the file of a segment.
type disk interface {
	WriteAt(b []byte, at int64) (int, error)
	Sync() error
	Close() error
}

// synced is a file whose syncs tests can observe.
type synced struct{ *os.File }

func (s synced) Sync() error { return regular.SyncData(s.File) }

// segment is one of the two files of a log. It grows in chunks of zeros, so that the sync
// of a block that fits writes no metadata of the file.
type segment struct {
	file      disk
	at        int64 // end of the last block
	allocated int64
	limit     int64
	names     map[string]struct{} // of the files with frames in the segment
}

// The sizes of a segment.
const (
	minChunk = 256 << 10
	maxChunk = 1 << 20
)

// grow makes room for n more bytes.
func (s *segment) grow(n int64) error {
	need := s.at + n - s.allocated
	if need <= 0 {
		return nil
	}
	chunk := min(max(minChunk, s.allocated), maxChunk, s.limit)
	zeros := make([]byte, (need+chunk-1)/chunk*chunk)
	if _, err := s.file.WriteAt(zeros, s.allocated); err != nil {
		return err
	}
	s.allocated += int64(len(zeros))
	return nil
}

// begin starts the segment over for a generation: what it has does not count any more.
func (s *segment) begin(generation uint64) error {
	s.at = 0
	clear(s.names)
	if err := s.grow(align); err != nil {
		return err
	}
	b := buffer{[][]byte{make([]byte, headerLen)}, headerLen}
	seal(&b, position{generation: generation})
	return s.write(&b)
}

// write appends a block and makes it durable. If it fails, the place where it would be is
// overwritten, so that no Recover finds it.
func (s *segment) write(block *buffer) error {
	err := s.writePieces(block)
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		if _, werr := s.file.WriteAt(make([]byte, align), s.at); werr == nil {
			_ = s.file.Sync()
		}
		return err
	}
	s.at += int64(padded(block.size))
	return nil
}

func (s *segment) writePieces(block *buffer) error {
	at := s.at
	for _, piece := range block.pieces {
		if _, err := s.file.WriteAt(piece, at); err != nil {
			return err
		}
		at += int64(len(piece))
	}
	return nil
}
