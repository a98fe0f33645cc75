package homedir

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/internal/app/fspath"
)

// FolderName is the folder at a project's root that keeps runs, memory and
// evaluations, where nobody names another.
const FolderName = ".pex"

// Create keeps a home that is about to be used out of git: it holds prompts and
// answers. Only one of the usual name, and one that is new, gets a .gitignore;
// that it cannot be written is for whoever then writes there to tell.
func Create(dir string) {
	if filepath.Base(dir) != FolderName || fspath.Exists(dir) || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	_ = os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600)
}

// Parts are what a home has of its own. The specs that were fetched into it
// are not among them: tools of a fetched spec work there.
var Parts = []string{"runs", "evals", "memory", "cache", "tokens", TrustFile}

// TokensFolder is the folder of a home that keeps what signing in gave.
const TokensFolder = "tokens"

// TrustFile is the file in a home that keeps what a person trusted.
const TrustFile = "trust.json"
