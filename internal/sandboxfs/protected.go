package sandboxfs

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// protectedNames lists the names below which nothing is written, whatever the spec excludes: they contain programs, settings
// that name programs, secrets, or approvals.
var protectedNames = []string{
	".git", ".gitattributes", ".gitmodules", ".githooks", ".husky", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
	".pex", "pex.lock",
	".env", ".envrc",
	".github", ".gitlab", ".gitlab-ci.yml", ".circleci", ".buildkite", ".drone.yml", ".travis.yml", ".cirrus.yml",
	".azuredevops", ".azure-pipelines", "azure-pipelines.yml", "azure-pipelines.yaml", "bitbucket-pipelines.yml", "jenkinsfile",
	".gitea", ".forgejo", ".woodpecker", ".woodpecker.yml", ".woodpecker.yaml", ".tekton", ".semaphore", ".teamcity", ".ci",
	"appveyor.yml", ".appveyor.yml", "cloudbuild.yaml", "buildspec.yml",
	".vscode", ".idea", ".devcontainer", ".mcp.json", ".claude", ".cursor",
	"node_modules", "__pycache__", "site-packages",
}

// writable returns why a path from Clean cannot be written, or nil.
func writable(rel string) error {
	if !utf8.ValidString(rel) || strings.ContainsFunc(rel, unicode.IsControl) {
		return errors.New("the path holds a line break or another character that cannot be seen; pass a path without it")
	}
	for part := range strings.SplitSeq(rel, "/") {
		name := normalizeName(part)
		if slices.Contains(protectedNames, name) || strings.HasPrefix(name, ".env.") || isShortAlias(name) {
			return fmt.Errorf("%q is not written: %s holds what is executed or was approved, so it is closed to tools; pass another path", rel, name)
		}
	}
	return nil
}

// isShortAlias reports whether a name may be the 8.3 alias of a protected name on Windows: git~1 for .git, github~1 for
// .github.
func isShortAlias(name string) bool {
	stem, number, ok := strings.Cut(strings.TrimSuffix(name, path.Ext(name)), "~")
	if !ok || len(stem) < 3 || strings.Trim(number, "0123456789") != "" {
		return false
	}
	return slices.ContainsFunc(protectedNames, func(k string) bool { return strings.HasPrefix(strings.ReplaceAll(k, ".", ""), stem) })
}

// normalizeName normalizes a name as the most lenient file systems do: ignoring case, characters that some ignore, trailing
// dots and spaces, and a stream name after a colon.
func normalizeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	stream, _, _ := strings.Cut(name, ":")
	if bare := strings.TrimRight(cmp.Or(stream, name), ". "); bare != "" {
		return bare
	}
	return name
}

// DisplayPath formats a path for a list with one path per line. A path with a line break or another control character
// is quoted, so that it cannot look like a line of its own.
func DisplayPath(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, isControl) {
		return path
	}
	return fmt.Sprintf("%q", path)
}

// isControl reports whether a character ends a line, moves the cursor, or changes the text direction.
func isControl(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}
