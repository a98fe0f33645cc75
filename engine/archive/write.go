package archive

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Writer writes an archive. It is not safe for concurrent use.
type Writer struct {
	tar      *tar.Writer
	manifest Manifest
}

// NewWriter starts an archive; made and by are stored in its manifest.
func NewWriter(w io.Writer, made time.Time, by string) *Writer {
	return &Writer{tar.NewWriter(w), Manifest{Version: version, Kind: kind, Created: made.UTC(), By: by, Files: []File{}}}
}

// Add writes a file of exactly size bytes. Names are relative and slash-separated.
func (w *Writer) Add(name string, changed time.Time, size int64, r io.Reader) error {
	if !validName(name) {
		return fmt.Errorf("archive %q: the name is absolute, leads outside or is the manifest's", name)
	}
	if err := w.header(name, changed, size); err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(w.tar, hash), r, size); err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	w.manifest.Files = append(w.manifest.Files, File{name, size, hex.EncodeToString(hash.Sum(nil)), changed.UTC()})
	return nil
}

func (w *Writer) header(name string, changed time.Time, size int64) error {
	h := tar.Header{
		Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: size,
		ModTime: changed.UTC(), Format: tar.FormatPAX, // with full precision of the time
	}
	if err := w.tar.WriteHeader(&h); err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	return nil
}

// Close writes the manifest and ends the archive; the underlying writer stays open. An
// archive that was not closed is invalid.
func (w *Writer) Close() error {
	b, err := json.MarshalIndent(w.manifest, "", " ")
	if err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	b = append(b, '\n')
	if err := w.header(manifestName, w.manifest.Created, int64(len(b))); err != nil {
		return err
	}
	if _, err := w.tar.Write(b); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if err := w.tar.Close(); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	return nil
}
