package homedir

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/artifact"
	"github.com/pexctl/pex/internal/app/fspath"
)

// FolderName is the default home, a folder at a project's root for runs, memory and evaluations.
const FolderName = ".pex"

// Create creates a home with a .gitignore, because it will contain prompts and answers. It does so only for a new
// folder with the default name. It reports no errors: writing to the home will fail with the same one.
func Create(dir string) {
	if filepath.Base(dir) != FolderName || fspath.Exists(dir) || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	_ = os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600)
}

// Parts are the parts of a home that tools must not access. Specs fetched into it are not among them, since their
// tools work there.
var Parts = []string{"runs", "evals", "memory", "cache", "tokens", artifact.Folder, TelemetryFolder, TenantsFolder, WebhooksFolder, ServerFile, TrustFile}

// TelemetryFolder is the folder of a home that says how much of each unfinished run is exported.
const TelemetryFolder = "telemetry"

// TenantsFolder is the folder of a home with the homes of the other tenants of a server.
const TenantsFolder = "tenants"

// WebhooksFolder is the folder of a home with the state of the webhooks of a server.
const WebhooksFolder = "webhooks"

// OfTenant returns the home of a tenant below that of a server.
func OfTenant(home, tenant string) string { return filepath.Join(home, TenantsFolder, tenant) }

// Shared returns the home with the home of a tenant below it, or "" if a home is not that of
// a tenant.
func Shared(home string) string {
	parent := filepath.Dir(home)
	if filepath.Base(parent) != TenantsFolder {
		return ""
	}
	return filepath.Dir(parent)
}

// TokensFolder is the folder of a home with OAuth tokens.
const TokensFolder = "tokens"

// TrustFile is the file of a home with the user's trust decisions.
const TrustFile = "trust.json"
