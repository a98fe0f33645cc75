package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of a file that is read line by line: a longer one is
// no line but damage.
const maxLine = 256 << 20

// linewise reads a file line by line, however long it is.
type linewise struct {
	r    *bufio.Reader
	long []byte // a line that the reader's buffer does not hold
	n    int    // of the last line, from 1
	at   int64  // where that line begins
	next int64  // where the next one does
}

func newLinewise(r io.Reader) *linewise { return &linewise{r: bufio.NewReaderSize(r, 64<<10)} }

// read gives the next line without its newline; ended says that it had one. It
// is good until the next call. The error is io.EOF behind the last.
func (l *linewise) read() (line []byte, ended bool, err error) {
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

func (l *linewise) readLong(line []byte) (_ []byte, err error) {
	l.long = append(l.long[:0], line...)
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		if len(l.long) > maxLine {
			return nil, l.damaged("the line is longer than any that is written")
		}
		line, err = l.r.ReadSlice('\n')
		l.long = append(l.long, line...)
	}
	return l.long, err
}

// damaged is the error of the last line.
func (l *linewise) damaged(what string) error { return l.wrong(fmt.Errorf("%w: %s", ErrCorrupt, what)) }

func (l *linewise) wrong(err error) error {
	return fmt.Errorf("line %d (byte %d): %w", l.n, l.at, err)
}

// mend cuts off a torn last line, and ends one that lacks only its newline:
// good is the length of the whole lines, size that of the file.
func mend(d disk, good, size int64, unended bool) (_ int64, made bool, dropped int, err error) {
	made, dropped = good == 0, int(size-good)
	if dropped > 0 {
		err = d.Truncate(good)
	}
	if err == nil && unended {
		_, err = d.Write([]byte{'\n'})
		good++
	}
	return good, made, dropped, err
}
