package index

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/engine/regular"
)

// ErrBroken is returned when an index cannot be used because its files are damaged or
// cannot be written. It must be recreated.
var ErrBroken = errors.New("the index is broken")

func broken(err error) error {
	if err == nil || errors.Is(err, ErrBroken) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

const (
	manifestName  = "manifest"
	segmentSuffix = ".seg"
	vectorsSuffix = ".vec"
)

// manifest lists the content of a folder. Replacing it applies a batch. In the file it is
// JSON behind its CRC-32C in hexadecimal. Nothing is synced: what a power loss damages is
// indexed again.
type manifest struct {
	Segments []segmentFile `json:"segments"` // oldest first
	Files    []*File       `json:"files"`
}

func (m *manifest) encode() []byte {
	text, _ := json.Marshal(m) // strings and numbers always encode
	sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(text, castagnoli))
	return append(hex.AppendEncode(nil, sum), text...)
}

func decodeManifest(raw []byte) (*manifest, error) {
	var m manifest
	digits := 2 * crc32.Size
	if len(raw) < digits {
		return nil, errors.New("incomplete manifest")
	}
	sum, err := hex.DecodeString(string(raw[:digits]))
	if err != nil || binary.BigEndian.Uint32(sum) != crc32.Checksum(raw[digits:], castagnoli) {
		return nil, errors.New("manifest with a wrong checksum")
	}
	err = json.Unmarshal(raw[digits:], &m)
	return &m, err
}

// write writes a file of the index, if it is stored.
func (x *Index) write(name string, raw []byte) error {
	if x.folder == "" {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(x.folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return errors.Join(err, f.Close())
}

// read reads a file of the index and verifies its checksum.
func (x *Index) read(name string, sum uint32) ([]byte, error) {
	raw, err := regular.ReadFile(filepath.Join(x.folder, name))
	if err == nil && crc32.Checksum(raw, castagnoli) != sum {
		err = fmt.Errorf("%s has a wrong checksum", name)
	}
	return raw, err
}

// store writes a segment and returns it.
func (x *Index) store(b *builder) (*segment, error) {
	raw := b.encode()
	s, err := decodeSegment(raw)
	if err != nil {
		return nil, err
	}
	s.segmentFile = segmentFile{rand.Text(), crc32.Checksum(raw, castagnoli), crc32.Checksum(b.vectors, castagnoli), len(b.vectors)}
	s.vectors = b.vectors
	if err = x.write(s.Name+segmentSuffix, raw); err == nil && len(b.vectors) > 0 {
		err = x.write(s.Name+vectorsSuffix, b.vectors)
	}
	return s, err
}

// load reads a segment without its vectors.
func (x *Index) load(f segmentFile) (*segment, error) {
	raw, err := x.read(f.Name+segmentSuffix, f.Sum)
	if err != nil {
		return nil, err
	}
	s, err := decodeSegment(raw)
	if err == nil {
		s.segmentFile = f
	}
	return s, err
}

// loadVectors reads the vectors of a segment unless they are known.
func (x *Index) loadVectors(s *segment) (err error) {
	if s.Vectors == 0 || len(s.vectors) == s.Vectors {
		return nil
	}
	s.vectors, err = x.read(s.Name+vectorsSuffix, s.VectorsSum)
	return err
}

// save replaces the manifest and removes the files that it does not name.
func (x *Index) save() error {
	if x.folder == "" {
		return nil
	}
	m := manifest{Files: sortedFiles(x.files)}
	names := []string{manifestName}
	for _, s := range x.segments {
		m.Segments = append(m.Segments, s.segmentFile)
		names = append(names, s.Name+segmentSuffix, s.Name+vectorsSuffix)
	}
	draft := rand.Text()
	if err := x.write(draft, m.encode()); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(x.folder, draft), filepath.Join(x.folder, manifestName)); err != nil {
		return err
	}
	entries, err := os.ReadDir(x.folder)
	for _, e := range entries {
		if !slices.Contains(names, e.Name()) {
			_ = os.Remove(filepath.Join(x.folder, e.Name())) // a leftover does no harm
		}
	}
	return err
}

// restore reads the index from its folder.
func (x *Index) restore() error {
	raw, err := regular.ReadFile(filepath.Join(x.folder, manifestName))
	if err != nil {
		return err
	}
	m, err := decodeManifest(bytes.TrimSpace(raw))
	if err != nil {
		return err
	}
	if x.files, err = filesByPath(m.Files); err != nil {
		return err
	}
	for _, f := range m.Segments {
		s, err := x.load(f)
		if err != nil {
			return err
		}
		x.push(s)
	}
	for path, f := range x.files {
		if got := x.passagesOf(path); got != f.Passages {
			return fmt.Errorf("%s has %d passages instead of %d", path, got, f.Passages)
		}
	}
	return nil
}
