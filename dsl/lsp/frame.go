package lsp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits for input from a client. A client that announces more is broken, and no
// memory is allocated for it.
const (
	maxMessage = 64 << 20
	maxHeader  = 4 << 10
)

// frames copies messages, header and body, until the input ends. It returns nil
// or the error in the input.
func frames(out io.Writer, in io.Reader) error {
	r := bufio.NewReaderSize(in, maxHeader)
	for {
		size, err := header(out, r)
		if err == nil {
			_, err = io.CopyN(out, r, size)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// header copies the lines up to the empty one, and returns the size of the body.
// The reader reports other mistakes in them.
func header(out io.Writer, r *bufio.Reader) (size int64, err error) {
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return 0, fmt.Errorf("a header line is longer than %d bytes", maxHeader)
		}
		if _, failed := out.Write(line); err == nil {
			err = failed
		}
		text := strings.TrimSpace(string(line))
		if err != nil || text == "" {
			return size, err
		}
		if name, value, _ := strings.Cut(text, ":"); strings.EqualFold(strings.TrimSpace(name), "content-length") {
			size, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if errors.Is(err, strconv.ErrRange) || size > maxMessage {
				return 0, fmt.Errorf("the message has %s bytes; the maximum is %d", strings.TrimSpace(value), maxMessage)
			}
			size = max(size, 0)
		}
	}
}
