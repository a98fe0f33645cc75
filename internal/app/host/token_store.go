package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/homedir"
)

// TokenStore stores tokens in files that only the user can read, separately for each tenant.
type TokenStore struct{ home, dir string }

// NewTokenStore returns the token store of a home, or nil without a home.
func NewTokenStore(home, tenant string) tool.TokenStore {
	switch {
	case home == "":
		return nil
	case tenant == "":
		return TokenStore{home, filepath.Join(home, homedir.TokensFolder)}
	}
	sum := sha256.Sum256([]byte(tenant)) // a tenant's name may not be a valid file name
	return TokenStore{home, filepath.Join(home, homedir.TokensFolder, "tenant-"+hex.EncodeToString(sum[:8]))}
}

// Load implements tool.TokenStore.
func (v TokenStore) Load(name string) ([]byte, error) {
	secret, err := regular.ReadFile(filepath.Join(v.dir, filepath.Base(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return secret, err
}

// Save implements tool.TokenStore.
func (v TokenStore) Save(name string, secret []byte) error {
	homedir.Create(v.home)
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return err
	}
	return fspath.WriteFile(filepath.Join(v.dir, filepath.Base(name)), 0o600, func(w io.Writer) error {
		_, err := w.Write(secret)
		return err
	})
}
