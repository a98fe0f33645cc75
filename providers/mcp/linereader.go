package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lineReader reads messages, one per line, and skips lines that are not messages: many
// programs print a banner first.
type lineReader struct {
	from     *bufio.Reader
	maxBytes int
	buf      []byte
	batch    []jsonrpc.Message // rest of a batch
	// allow reports by method whether to forward a notification; nil = all.
	allow func(method string) bool

	mu      sync.Mutex
	skipped int
	first   string // first skipped line
}

const (
	shownLine = 200     // bytes of a line shown in an error
	shortLine = 4 << 10 // lines up to this size are filtered before they are decoded
)

func newLines(from io.Reader, most int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), maxBytes: most}
}

// next returns the next message. After a line that is too long nothing more is read.
func (l *lineReader) next() (jsonrpc.Message, error) {
	for len(l.batch) == 0 {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if l.discard(line) {
			continue
		}
		switch l.batch, err = messages(line); {
		case err != nil && looksLikeMessage(line):
			return nil, fmt.Errorf("a message from the server cannot be decoded: %w", err)
		case err != nil:
			l.skip(line)
		}
	}
	m := l.batch[0]
	l.batch = l.batch[1:]
	return m, nil
}

// line reads a line into a reused buffer, and drops a buffer that grew large.
func (l *lineReader) line() ([]byte, error) {
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	for {
		part, err := l.from.ReadSlice('\n')
		if len(l.buf)+len(part) > l.maxBytes {
			l.buf = nil
			return nil, fmt.Errorf("a message from the server exceeds %d bytes (max_message_bytes)", l.maxBytes)
		}
		l.buf = append(l.buf, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(l.buf) > 0:
			return l.buf, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// messages decodes a line: a message, or a batch as sent by servers of 2025-03-26.
func messages(line []byte) ([]jsonrpc.Message, error) {
	batch := []json.RawMessage{line}
	if line[0] == '[' {
		if err := json.Unmarshal(line, &batch); err != nil {
			return nil, err
		}
	}
	var out []jsonrpc.Message
	for _, raw := range batch {
		m, err := jsonrpc.DecodeMessage(raw)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// discard reports whether to drop a line: a notification without a handler, or output that is not a message. It is much
// cheaper than decoding, so a flood of such lines does little harm.
func (l *lineReader) discard(line []byte) bool {
	if len(line) > shortLine {
		return false
	}
	if !json.Valid(line) {
		if looksLikeMessage(line) {
			return false // decoding it returns the error
		}
		l.skip(line)
		return true
	}
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	return l.allow != nil && json.Unmarshal(line, &head) == nil && len(head.ID) == 0 && head.Method != "" && !l.allow(head.Method)
}

// looksLikeMessage reports whether an undecodable line is probably a broken message rather than other output. If it
// were skipped, its receiver would wait forever.
func looksLikeMessage(line []byte) bool {
	return line[0] == '{' && bytes.Contains(line[:min(len(line), shownLine)], []byte(`"jsonrpc"`))
}

func (l *lineReader) skip(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.skipped++; l.skipped == 1 {
		l.first = string(line[:min(len(line), shownLine)])
	}
}

// skippedLines returns how many lines were skipped, and the first one.
func (l *lineReader) skippedLines() (n int, first string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.skipped, l.first
}
