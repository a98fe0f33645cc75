package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line accepted from a file that is read line by line.
const maxLine = 256 << 20

// lineReader reads a file of any size line by line.
type lineReader struct {
	r    *bufio.Reader
	long []byte // a line longer than the reader's buffer
	n    int    // number of the last line, from 1
	at   int64  // offset of that line
	next int64  // offset of the next line
}

func newLinewise(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// read returns the next line without its newline; ended reports whether it had one. The
// line is valid until the next call. The error is io.EOF after the last line.
func (l *lineReader) read() (line []byte, ended bool, err error) {
	l.n, l.at = l.n+1, l.next
	line, err = l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.readLong(line)
	}
	l.next += int64(len(line))
	switch {
	case err == nil:
		return line[:len(line)-1], true, nil
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, false, nil
	}
	return nil, false, err
}

func (l *lineReader) readLong(line []byte) (_ []byte, err error) {
	l.long = append(l.long[:0], line...)
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		if len(l.long) > maxLine {
			return nil, l.corrupt("the line is longer than any that is written")
		}
		line, err = l.r.ReadSlice('\n')
		l.long = append(l.long, line...)
	}
	return l.long, err
}

// span returns where the last line is.
func (l *lineReader) span() span { return span{l.at, int(l.next - l.at)} }

// corrupt returns an ErrCorrupt for the last line.
func (l *lineReader) corrupt(what string) error {
	return l.atLine(fmt.Errorf("%w: %s", ErrCorrupt, what))
}

func (l *lineReader) atLine(err error) error {
	return fmt.Errorf("line %d (byte %d): %w", l.n, l.at, err)
}

// repairTail removes a torn last line and adds a missing newline: good is the length of
// the complete lines, size that of the file.
func repairTail(d disk, good, size int64, unended bool) (_ int64, dropped int, err error) {
	dropped = int(size - good)
	if dropped > 0 {
		err = d.Truncate(good)
	}
	if err == nil && unended {
		_, err = d.Write([]byte{'\n'})
		good++
	}
	return good, dropped, err
}
