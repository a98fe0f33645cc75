package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// A line is {"v":1,"seq":..,...,"chain":"16 hex"} and a newline. Its chain is the first 8
// bytes of sha256(chain of the line before + this line up to the mark). This rule and the
// last 28 bytes of a line never change.
const (
	chainMark    = `,"chain":"`
	chainMarkLen = len(chainMark) + 16 + len(`"}`)
)

// Chain is a hash that covers a line and all lines before it; the zero value precedes the
// first line.
type Chain [8]byte

// MarshalText returns the chain in hex, as it appears in a line.
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

// Seal completes a line: body holds its fields without the closing brace. It is for tools
// that write their own lines.
func Seal(body []byte, c Chain) ([]byte, Chain) {
	c = c.next(body)
	return append(hex.AppendEncode(append(body, chainMark...), c[:]), "\"}\n"...), c
}

// verify checks the form and chain of a line without its newline.
func verify(line []byte, c Chain) (Chain, bool) {
	if len(line) < chainMarkLen {
		return c, false
	}
	end := line[len(line)-chainMarkLen:]
	next := c.next(line[:len(line)-chainMarkLen])
	var want [chainMarkLen]byte
	b := append(hex.AppendEncode(append(want[:0], chainMark...), next[:]), `"}`...)
	return next, bytes.Equal(end, b)
}

// lineStart is the start of every line of a single run's journal.
const lineStart = `{"v":`

// isLinePrefix reports whether b can be the start of a first line. Zeros, which a file
// system may leave after a crash, cannot.
func isLinePrefix(b []byte) bool {
	n := min(len(b), len(lineStart))
	return string(b[:n]) == lineStart[:n]
}

// torn reports whether a tail without a newline is an incomplete line. If it contains a
// complete line, its newline was damaged instead.
func torn(tail []byte, c Chain) bool {
	for i := 0; ; i++ {
		k := bytes.Index(tail[i:], []byte(chainMark))
		if i += k; k < 0 || i+chainMarkLen > len(tail) {
			return true
		}
		if _, ok := verify(tail[:i+chainMarkLen], c); ok {
			return false
		}
	}
}
