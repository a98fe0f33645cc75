package badger

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
)

// A backup is a line that says what it is, parts with their length in front, an
// empty part, and the SHA-256 of all that: a file that was cut or changed is
// noticed before anything of it is used.
const (
	backupHeader = "pex-memory-backup 1\n"
	partSize     = 64 << 10
)

// BackupError says that a backup is not whole, or none.
type BackupError struct{ What string }

// Error says what is wrong with it.
func (e *BackupError) Error() string {
	return "the memory backup is damaged: " + e.What + "; use another one"
}

// frame writes a backup around a stream.
type frame struct {
	w   io.Writer
	sum hash.Hash
	buf *bufio.Writer // gathers parts
}

func newFrame(w io.Writer) (*frame, error) {
	f := &frame{w: w, sum: sha256.New()}
	f.buf = bufio.NewWriterSize(partWriter{f}, partSize)
	return f, f.put([]byte(backupHeader))
}

// put writes what the checksum covers.
func (f *frame) put(b []byte) error {
	f.sum.Write(b)
	_, err := f.w.Write(b)
	return err
}

// end writes what is left and the trailer.
func (f *frame) end() error {
	if err := errors.Join(f.buf.Flush(), f.put(make([]byte, 4))); err != nil {
		return err
	}
	_, err := f.w.Write(f.sum.Sum(nil))
	return err
}

// partWriter writes each write as parts.
type partWriter struct{ f *frame }

func (p partWriter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		part := rest[:min(len(rest), partSize)]
		rest = rest[len(part):]
		if err := p.f.put(binary.BigEndian.AppendUint32(nil, uint32(len(part)))); err != nil {
			return 0, err
		}
		if err := p.f.put(part); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// unframe copies the stream of a backup to w. It is whole only if the error is
// nil, which is at the end.
func unframe(w io.Writer, r io.Reader) error {
	sum := sha256.New()
	in := io.TeeReader(r, sum)
	header := make([]byte, len(backupHeader))
	if _, err := io.ReadFull(in, header); err != nil {
		return cut(err)
	}
	if string(header) != backupHeader {
		return &BackupError{fmt.Sprintf("it begins with %q", header)}
	}
	for {
		var length [4]byte
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return cut(err)
		}
		n := binary.BigEndian.Uint32(length[:])
		if n == 0 {
			return trailer(r, sum.Sum(nil))
		}
		if n > partSize {
			return &BackupError{"a part of it is too long"}
		}
		if _, err := io.CopyN(w, in, int64(n)); err != nil {
			return cut(err)
		}
	}
}

// trailer holds the end of a backup against the checksum of what came before.
func trailer(r io.Reader, sum []byte) error {
	want := make([]byte, len(sum)+1)
	n, err := io.ReadFull(r, want)
	switch {
	case n < len(sum):
		return cut(err)
	case n > len(sum):
		return &BackupError{"there is more behind its end"}
	case !bytes.Equal(want[:n], sum):
		return &BackupError{"its checksum is another"}
	}
	return nil
}

// cut makes the end of the input damage; other errors stay what they are.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &BackupError{"its end is missing"}
	}
	return fmt.Errorf("read backup: %w", err)
}

// Backup writes all that the store holds, of every tenant, as it is at one
// moment. The store stays open meanwhile and other processes wait, so w should
// be a file rather than somebody who reads slowly. Without a store the error
// wraps fs.ErrNotExist and nothing is written.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	there := false
	err := s.reading(ctx, func(db *lease) error {
		there = true
		f, err := newFrame(until{ctx, w})
		if err != nil {
			return err
		}
		if _, err := db.Backup(f.buf, 0); err != nil {
			return err
		}
		return f.end()
	})
	if err == nil && !there {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("back up memory store %s: %w", s.dir, err)
	}
	return nil
}

// until is a writer that fails once the context has ended.
type until struct {
	ctx context.Context
	w   io.Writer
}

func (u until) Write(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(b)
}
