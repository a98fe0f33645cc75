package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// A line is {"v":1,"seq":..,...,"chain":"16 hex"} and a newline. Its chain is
// the first 8 bytes of sha256(chain of the line before, this line before the
// mark). That rule and the last 28 bytes of a line never change.
const (
	mark    = `,"chain":"`
	markLen = len(mark) + 16 + len(`"}`)
)

// Chain ties a line to all lines before it; the zero value stands before the first.
type Chain [8]byte

// MarshalText is the chain as a line has it.
func (c Chain) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, c[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (c *Chain) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(c)) {
		return errForm
	}
	_, err := hex.Decode(c[:], b)
	return err
}

func (c Chain) next(b []byte) Chain {
	h := sha256.New()
	h.Write(c[:])
	h.Write(b)
	var sum [sha256.Size]byte
	return Chain(h.Sum(sum[:0])[:8])
}

// Seal ends a line whose fields are in body, without the closing brace, for
// tools that write lines of their own.
func Seal(body []byte, c Chain) ([]byte, Chain) {
	c = c.next(body)
	return append(hex.AppendEncode(append(body, mark...), c[:]), "\"}\n"...), c
}

// verify checks form and chain of a line without its newline.
func verify(line []byte, c Chain) (Chain, bool) {
	if len(line) < markLen {
		return c, false
	}
	end := line[len(line)-markLen:]
	next := c.next(line[:len(line)-markLen])
	var want [markLen]byte
	b := append(hex.AppendEncode(append(want[:0], mark...), next[:]), `"}`...)
	return next, bytes.Equal(end, b)
}

// lineStart is how each line of a run's own journal begins.
const lineStart = `{"v":`

// beginning says that bytes may be what was written of a first line. Zeros, as a
// file system may leave them, are not.
func beginning(b []byte) bool {
	n := min(len(b), len(lineStart))
	return string(b[:n]) == lineStart[:n]
}

// torn says that a tail without a newline is no more than the beginning of a
// line. A whole line in it means that its newline was damaged.
func torn(tail []byte, c Chain) bool {
	for i := 0; ; i++ {
		k := bytes.Index(tail[i:], []byte(mark))
		if i += k; k < 0 || i+markLen > len(tail) {
			return true
		}
		if _, ok := verify(tail[:i+markLen], c); ok {
			return false
		}
	}
}
