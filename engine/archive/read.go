package archive

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
)

// ErrDamaged reports that an archive was truncated or changed, or is not an archive.
var ErrDamaged = errors.New("the archive is damaged")

// maxManifest is the maximum size of a manifest: more than a million files.
const maxManifest = 512 << 20

// Read calls each for every file of an archive, then compares all of them with the
// manifest. After an error nothing of what each received can be trusted. An error of each
// ends the reading; each need not read its file completely.
func Read(r io.Reader, each func(f File, r io.Reader) error) (Manifest, error) {
	t := tar.NewReader(r)
	var found []File
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return Manifest{}, fmt.Errorf("%w: it is truncated, its manifest is missing", ErrDamaged)
		}
		if err != nil {
			return Manifest{}, readError(err)
		}
		if h.Name == manifestName {
			return readTrailer(t, found)
		}
		if h.Typeflag != tar.TypeReg || !validName(h.Name) {
			return Manifest{}, fmt.Errorf("%w: unexpected entry %q", ErrDamaged, h.Name)
		}
		f := File{Name: h.Name, Size: h.Size, Time: h.ModTime}
		if err := readFile(t, &f, each); err != nil {
			return Manifest{}, err
		}
		found = append(found, f)
	}
}

// readFile calls each for one file and computes its hash.
func readFile(t *tar.Reader, f *File, each func(File, io.Reader) error) error {
	hash := sha256.New()
	in := &source{r: io.TeeReader(t, hash)}
	if err := each(*f, in); err != nil && in.err == nil {
		return err
	}
	if _, err := io.Copy(io.Discard, in); err != nil {
		return readError(err)
	}
	f.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

// source keeps the first read error, whatever its reader does with it.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// readTrailer reads the manifest, after which nothing may follow.
func readTrailer(t *tar.Reader, found []File) (Manifest, error) {
	m, err := readManifest(io.LimitReader(t, maxManifest), found)
	if err != nil {
		return m, err
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return m, fmt.Errorf("%w: unexpected data after its manifest", ErrDamaged)
	}
	return m, nil
}

// readError distinguishes a damaged stream from one that cannot be read.
func readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, tar.ErrHeader) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fmt.Errorf("read archive: %w", err)
}

// validName reports whether a name stays below the folder it is extracted to.
func validName(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && path.Clean(name) == name && name != manifestName
}
