package attachment

import (
	"encoding/binary"
	"errors"
	"io"
)

var errWebP = errors.New("invalid WebP header")

// webpSize returns the width and height in the first chunk of a WebP file (RFC 9649,
// sections 2.5 to 2.7).
func webpSize(b []byte) (width, height int, err error) {
	if len(b) < 30 {
		return 0, 0, io.ErrUnexpectedEOF
	}
	// The size of the RIFF chunk counts the bytes after itself.
	if int64(binary.LittleEndian.Uint32(b[4:])) > int64(len(b)-8) {
		return 0, 0, io.ErrUnexpectedEOF
	}
	data := b[20:] // of the first chunk
	switch string(b[12:16]) {
	case "VP8X": // 24-bit sizes of the canvas, minus one
		return 1 + uint24(data[4:]), 1 + uint24(data[7:]), nil
	case "VP8L": // a signature and two 14-bit sizes, minus one
		if data[0] != 0x2f {
			return 0, 0, errWebP
		}
		bits := binary.LittleEndian.Uint32(data[1:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff), nil
	case "VP8 ": // a frame tag, a start code and two 14-bit sizes
		if data[0]&1 != 0 || string(data[3:6]) != "\x9d\x01\x2a" {
			return 0, 0, errWebP
		}
		return int(binary.LittleEndian.Uint16(data[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(data[8:]) & 0x3fff), nil
	}
	return 0, 0, errWebP
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
