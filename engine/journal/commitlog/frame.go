package commitlog

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
)

// Frame is bytes at an offset of a file.
type Frame struct {
	Name  string
	Tag   uint64 // of the owner's choice: when it opened the file, in some order
	At    int64
	Bytes []byte
}

// A block is a header and frames, padded with zeros to a multiple of align. Blocks are
// numbered over all segments. The first block of a segment has no frames and number 0. It
// has the generation of the blocks that count: others are left from an earlier use of the
// segment, whose checkpoint is complete.
const (
	align     = 512
	headerLen = 32
	magic     = 0x6c786570
)

// position is that of a block in the log.
type position struct{ generation, number uint64 }

// appendHead appends a frame without its bytes.
func appendHead(b []byte, f *Frame) []byte {
	b = binary.AppendUvarint(b, uint64(len(f.Name)))
	b = append(b, f.Name...)
	b = binary.AppendUvarint(b, f.Tag)
	b = binary.AppendUvarint(b, uint64(f.At))
	return binary.AppendUvarint(b, uint64(len(f.Bytes)))
}

// seal turns headerLen free bytes and frames into a block, except for its padding.
func seal(b *buffer, p position) {
	head := b.pieces[0]
	binary.LittleEndian.PutUint32(head, magic)
	binary.LittleEndian.PutUint32(head[4:], uint32(b.size-headerLen))
	binary.LittleEndian.PutUint64(head[8:], p.generation)
	binary.LittleEndian.PutUint64(head[16:], p.number)
	clear(head[24:headerLen])
	sum := uint32(0)
	for _, piece := range b.pieces {
		sum = crc32.Update(sum, castagnoli(), piece)
	}
	binary.LittleEndian.PutUint32(head[24:], sum)
}

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

var padding [align]byte

func padded(n int) int { return (n + align - 1) &^ (align - 1) }

// parseBlock parses the block at the beginning of b. It returns the length of the block,
// 0 if there is none that is valid.
func parseBlock(b []byte) (p position, frames []Frame, size int) {
	if len(b) < headerLen || binary.LittleEndian.Uint32(b) != magic {
		return p, nil, 0
	}
	n := uint64(binary.LittleEndian.Uint32(b[4:])) + headerLen
	if n > uint64(len(b)) {
		return p, nil, 0
	}
	p = position{binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
	sum := crc32.Update(0, castagnoli(), b[:24])
	sum = crc32.Update(sum, castagnoli(), padding[:headerLen-24])
	sum = crc32.Update(sum, castagnoli(), b[headerLen:n])
	if sum != binary.LittleEndian.Uint32(b[24:]) || binary.LittleEndian.Uint32(b[28:]) != 0 {
		return p, nil, 0
	}
	frames, ok := parseFrames(b[headerLen:n])
	if !ok {
		return p, nil, 0
	}
	return p, frames, min(padded(int(n)), len(b))
}

func parseFrames(b []byte) (frames []Frame, ok bool) {
	for len(b) > 0 {
		var f Frame
		name, rest, ok := cutBytes(b)
		if !ok {
			return nil, false
		}
		f.Name = string(name)
		var at uint64
		if f.Tag, rest, ok = cutNumber(rest); !ok {
			return nil, false
		}
		if at, rest, ok = cutNumber(rest); !ok || at > 1<<62 {
			return nil, false
		}
		f.At = int64(at)
		if f.Bytes, b, ok = cutBytes(rest); !ok {
			return nil, false
		}
		frames = append(frames, f)
	}
	return frames, true
}

func cutNumber(b []byte) (v uint64, rest []byte, ok bool) {
	v, n := binary.Uvarint(b)
	if n <= 0 {
		return 0, nil, false
	}
	return v, b[n:], true
}

func cutBytes(b []byte) (field, rest []byte, ok bool) {
	n, b, ok := cutNumber(b)
	if !ok || n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}
