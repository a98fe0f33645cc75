package dataset

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// maxLine is the maximum size of a JSONL line or CSV record in bytes.
const maxLine = 8 << 20

var errLong = fmt.Errorf("the row is longer than %d MiB: store long values in files, and put their names here", maxLine>>20)

// fromFile reads the rows of a file.
func fromFile(path string, read func(*bufio.Reader, func(row, error) bool)) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(row{}, withoutPath(err))
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 64<<10)
		if err := skipBOM(r); err != nil {
			yield(row{}, err)
			return
		}
		read(r, yield)
	}
}

// withoutPath returns a file error without the path, which the caller's message has.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// skipBOM skips a UTF-8 byte order mark.
func skipBOM(r *bufio.Reader) error {
	b, _ := r.Peek(3) // a short file returns fewer bytes
	switch {
	case bytes.Equal(b, []byte("\xef\xbb\xbf")):
		_, err := r.Discard(3)
		return err
	case bytes.HasPrefix(b, []byte("\xff\xfe")), bytes.HasPrefix(b, []byte("\xfe\xff")):
		return errors.New("the file is UTF-16: save it as UTF-8")
	}
	return nil
}

// jsonlRows reads one JSON object per line. Empty lines are skipped.
func jsonlRows(r *bufio.Reader, yield func(row, error) bool) {
	var buf []byte
	for n := 1; ; n++ {
		line, err := readLine(r, &buf)
		if err != nil && !errors.Is(err, io.EOF) {
			yield(row{line: n}, err)
			return
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			values, verr := object(line)
			if !yield(row{n, values}, verr) || verr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine returns the next line. It uses buf if the line exceeds the reader's buffer.
func readLine(r *bufio.Reader, buf *[]byte) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	*buf = append((*buf)[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(*buf) > maxLine {
			return nil, errLong
		}
		line, err = r.ReadSlice('\n')
		*buf = append(*buf, line...)
	}
	return *buf, err
}

// object decodes a JSON row.
func object(b []byte) (map[string]any, error) {
	if !utf8.Valid(b) {
		return nil, errors.New("the row is not UTF-8 text")
	}
	if !json.Valid(b) {
		var v any
		return nil, fmt.Errorf("this is not JSON: %w", json.Unmarshal(b, &v))
	}
	values, ok := jsonvalue.Plain(b).(map[string]any)
	if !ok {
		return nil, errors.New(`a row must be a JSON object, {"column": value, ...}`)
	}
	return values, withQuoteHint(jsonvalue.CheckPrecision(b))
}

// withQuoteHint adds a hint to an error about an imprecise number.
func withQuoteHint(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: write it in quotes, as text", err)
}

// Digest returns "sha256:" and the hash of a file.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
