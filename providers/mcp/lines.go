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

// lines reads messages, one a line, and passes over lines that are none: many
// programs print a greeting first.
type lines struct {
	from *bufio.Reader
	most int
	buf  []byte
	left []jsonrpc.Message // of a batch
	// heard says whether a notification goes on, by its method; nil = each does.
	heard func(method string) bool

	mu      sync.Mutex
	skipped int
	first   string // of what was skipped
}

const (
	shownLine = 200     // bytes of a line that is shown
	shortLine = 4 << 10 // bytes of a line that is looked at before it is decoded
)

func newLines(from io.Reader, most int) *lines {
	return &lines{from: bufio.NewReaderSize(from, 64<<10), most: most}
}

// next is the next message. Once a line is too long nothing more is read.
func (l *lines) next() (jsonrpc.Message, error) {
	for len(l.left) == 0 {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if l.idle(line) {
			continue
		}
		switch l.left, err = messages(line); {
		case err != nil && meant(line):
			return nil, fmt.Errorf("a message of the server cannot be read: %w", err)
		case err != nil:
			l.skip(line)
		}
	}
	m := l.left[0]
	l.left = l.left[1:]
	return m, nil
}

// line reads a line into a buffer that is used again, and gives back one that
// had to grow much.
func (l *lines) line() ([]byte, error) {
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	l.buf = l.buf[:0]
	for {
		part, err := l.from.ReadSlice('\n')
		if len(l.buf)+len(part) > l.most {
			l.buf = nil
			return nil, fmt.Errorf("a message of the server is longer than %d bytes (max_message_bytes)", l.most)
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

// messages decodes a line: a message, or a batch as servers of 2025-03-26 send.
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

// idle says that a line is a notification that nobody listens to, or no JSON
// that was meant to be a message. To find that out costs a fraction of decoding
// it: a storm of them is let pass.
func (l *lines) idle(line []byte) bool {
	if len(line) > shortLine {
		return false
	}
	if !json.Valid(line) {
		if meant(line) {
			return false // decoding it tells what is wrong
		}
		l.skip(line)
		return true
	}
	var head struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	return l.heard != nil && json.Unmarshal(line, &head) == nil && len(head.ID) == 0 && head.Method != "" && !l.heard(head.Method)
}

// meant says that a line was to be a message, and is not what a program prints
// beside them: who waits for it would wait in vain.
func meant(line []byte) bool {
	return line[0] == '{' && bytes.Contains(line[:min(len(line), shownLine)], []byte(`"jsonrpc"`))
}

func (l *lines) skip(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.skipped++; l.skipped == 1 {
		l.first = string(line[:min(len(line), shownLine)])
	}
}

// passed is how many lines were passed over, and how the first begins.
func (l *lines) passed() (n int, first string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.skipped, l.first
}
