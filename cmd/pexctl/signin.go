package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/internal/app/fspath"
)

// tokensName is the folder of a home that keeps what signing in gave.
const tokensName = "tokens"

// vault keeps tokens in files that their user alone can read, a tenant's apart.
type vault struct{ home, dir string }

var _ engine.Vault = vault{}

// vaultOf is the vault of a home, nil without one.
func vaultOf(home, tenant string) engine.Vault {
	switch {
	case home == "":
		return nil
	case tenant == "":
		return vault{home, filepath.Join(home, tokensName)}
	}
	sum := sha256.Sum256([]byte(tenant)) // a tenant's name may be no name for a file
	return vault{home, filepath.Join(home, tokensName, "tenant-"+hex.EncodeToString(sum[:8]))}
}

// Load implements engine.Vault.
func (v vault) Load(name string) ([]byte, error) {
	secret, err := regular.ReadFile(filepath.Join(v.dir, filepath.Base(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return secret, err
}

// Save implements engine.Vault.
func (v vault) Save(name string, secret []byte) error {
	ignored(v.home)
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return err
	}
	return fspath.WriteFile(filepath.Join(v.dir, filepath.Base(name)), 0o600, func(w io.Writer) error {
		_, err := w.Write(secret)
		return err
	})
}

// signingIn is s for a command whose user may be asked to sign in at a server:
// what that gives is kept in the spec's home also where nothing else is.
func (s hostSettings) signingIn(c *ui.Call, spec *dsl.Spec) hostSettings {
	s.tokens, s.browse = homeDir(c, spec), browser(c)
	return s
}

// browser shows an address to whoever is at the terminal; nil = nobody is.
func browser(c *ui.Call) func(context.Context, string) error {
	if _, ok := ui.Terminal(c.Stderr); !ok {
		return nil
	}
	return func(_ context.Context, address string) error {
		_, err := fmt.Fprintf(c.Stderr, "to sign in, open this address in a browser on this machine:\n  %s\n", tty.Safe(address))
		return err
	}
}
