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

// A backup is a header line, length-prefixed parts, an empty part, and the SHA-256 of all
// of these, so that truncation and changes are detected before anything is used.
const (
	backupHeader = "pex-memory-backup 1\n"
	partSize     = 64 << 10
)

// BackupError reports that a backup is damaged, or not a backup.
type BackupError struct{ What string }

// Error describes the damage.
func (e *BackupError) Error() string {
	return "the memory backup is damaged: " + e.What + "; use another one"
}

// frame writes a backup around a stream.
type frame struct {
	w   io.Writer
	sum hash.Hash
	buf *bufio.Writer // collects parts
}

func newFrame(w io.Writer) (*frame, error) {
	f := &frame{w: w, sum: sha256.New()}
	f.buf = bufio.NewWriterSize(partWriter{f}, partSize)
	return f, f.put([]byte(backupHeader))
}

// put writes data covered by the checksum.
func (f *frame) put(b []byte) error {
	f.sum.Write(b)
	_, err := f.w.Write(b)
	return err
}

// end writes the rest and the trailer.
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

// readFrame copies the stream of a backup to w. It is valid only if the error is nil.
func readFrame(w io.Writer, r io.Reader) error {
	sum := sha256.New()
	in := io.TeeReader(r, sum)
	header := make([]byte, len(backupHeader))
	if _, err := io.ReadFull(in, header); err != nil {
		return truncatedError(err)
	}
	if string(header) != backupHeader {
		return &BackupError{fmt.Sprintf("it starts with %q", header)}
	}
	for {
		var length [4]byte
		if _, err := io.ReadFull(in, length[:]); err != nil {
			return truncatedError(err)
		}
		n := binary.BigEndian.Uint32(length[:])
		if n == 0 {
			return checkTrailer(r, sum.Sum(nil))
		}
		if n > partSize {
			return &BackupError{"one of its parts is too long"}
		}
		if _, err := io.CopyN(w, in, int64(n)); err != nil {
			return truncatedError(err)
		}
	}
}

// checkTrailer compares the end of a backup with the checksum.
func checkTrailer(r io.Reader, sum []byte) error {
	want := make([]byte, len(sum)+1)
	n, err := io.ReadFull(r, want)
	switch {
	case n < len(sum):
		return truncatedError(err)
	case n > len(sum):
		return &BackupError{"there is data after its end"}
	case !bytes.Equal(want[:n], sum):
		return &BackupError{"its checksum is wrong"}
	}
	return nil
}

// truncatedError converts an unexpected end of input to a BackupError.
func truncatedError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &BackupError{"it is truncated"}
	}
	return fmt.Errorf("read backup: %w", err)
}

// Backup writes a consistent copy of the whole store, of all tenants. The store stays
// open meanwhile and other processes wait, so w should not be slow. If there is no store,
// the error wraps fs.ErrNotExist and nothing is written.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	exists := false
	err := s.withExisting(ctx, func(db *lease) error {
		exists = true
		f, err := newFrame(ctxWriter{ctx, w})
		if err != nil {
			return err
		}
		if _, err := db.Backup(f.buf, 0); err != nil {
			return err
		}
		return f.end()
	})
	if err == nil && !exists {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("back up memory store %s: %w", s.dir, err)
	}
	return nil
}

// ctxWriter is a writer that fails once the context has ended.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
}

func (u ctxWriter) Write(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(b)
}
