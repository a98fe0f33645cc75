package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/homedir"
)

// TrustedDigest matches the argument of --trust, besides all: a digest prefix long enough to prevent collisions.
var TrustedDigest = text.Regexp(`^sha256:[0-9a-f]{16,64}$`)

// MostTrust is the maximum size of the trust file in bytes.
const MostTrust = 1 << 20

// Store has what the user trusted.
type Store struct {
	Version int            `json:"version"`
	Trusted []trustedFiles `json:"trusted"`
}

// trustedFiles are trusted files, identified by their digest. The paths are for human readers.
type trustedFiles struct {
	Digest string   `json:"digest"`
	Files  []string `json:"files"`
}

// Has reports whether files of a digest are trusted.
func (k *Store) Has(digest string) bool {
	return slices.ContainsFunc(k.Trusted, func(f trustedFiles) bool { return f.Digest == digest })
}

// Open reads the trust decisions of a home. An invalid file trusts nothing.
func Open(home string) (*Store, error) {
	path := filepath.Join(home, homedir.TrustFile)
	k := &Store{Version: 1}
	f, err := regular.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return k, nil
	case err != nil:
		return nil, failure.Infra(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MostTrust+1))
	if err != nil {
		return nil, failure.Infra(err)
	}
	if err := k.read(b); err != nil {
		return nil, failure.Usagef("%s cannot be read: %w (remove it to be asked again)", fspath.Shown(path), err)
	}
	return k, nil
}

func (k *Store) read(b []byte) error {
	if len(b) > MostTrust {
		return fmt.Errorf("larger than %d bytes", MostTrust)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(k); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	if k.Version != 1 {
		return fmt.Errorf("version %d is not supported; this pexctl supports 1", k.Version)
	}
	for _, f := range k.Trusted {
		if !TrustedDigest().MatchString(f.Digest) || len(f.Digest) != len("sha256:")+64 {
			return fmt.Errorf("invalid digest %q", f.Digest)
		}
	}
	return nil
}

// Add stores in a home that files are trusted in their current state.
func Add(home string, f *specfs.Foreign) error {
	k, err := Open(home)
	if err != nil {
		return err
	}
	entry := trustedFiles{Digest: f.Digest()}
	for _, file := range f.Files {
		entry.Files = append(entry.Files, file.Path)
	}
	k.Trusted = append(k.Trusted, entry)
	homedir.Create(home)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return failure.Infra(err)
	}
	err = fspath.WriteFile(filepath.Join(home, homedir.TrustFile), 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(k)
	})
	if err != nil {
		return failure.Infra(fmt.Errorf("store the trust decision: %w", err))
	}
	return nil
}
