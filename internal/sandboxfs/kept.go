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

// kept are the names below which nothing is written, whatever an author excludes:
// they hold programs, settings that name programs, secrets, or approvals.
var kept = []string{
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

// writable returns why a path that Clean gave is not written, or nil.
func writable(rel string) error {
	if !utf8.ValidString(rel) || strings.ContainsFunc(rel, unicode.IsControl) {
		return errors.New("the path holds a line break or another character that cannot be seen; pass a path without it")
	}
	for part := range strings.SplitSeq(rel, "/") {
		name := folded(part)
		if slices.Contains(kept, name) || strings.HasPrefix(name, ".env.") || shortened(name) {
			return fmt.Errorf("%q is not written: %s holds what is executed or was approved, so it is closed to tools; pass another path", rel, name)
		}
	}
	return nil
}

// shortened reports whether a name may be the 8.3 alias that Windows keeps for a
// closed one: git~1 for .git, github~1 for .github.
func shortened(name string) bool {
	stem, number, ok := strings.Cut(strings.TrimSuffix(name, path.Ext(name)), "~")
	if !ok || len(stem) < 3 || strings.Trim(number, "0123456789") != "" {
		return false
	}
	return slices.ContainsFunc(kept, func(k string) bool { return strings.HasPrefix(strings.ReplaceAll(k, ".", ""), stem) })
}

// folded is a name as the least exact of file systems take it: whatever its
// case, without the characters that some of them ignore, without the dots and
// spaces at its end that others drop, and without the stream behind a colon.
func folded(name string) string {
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

// DisplayPath is a path as it is shown in a list with one path a line: one with a
// line break or another control character is quoted, so that a name cannot
// pass for a line of its own.
func DisplayPath(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, hides) {
		return path
	}
	return fmt.Sprintf("%q", path)
}

// hides says that a character ends a line, moves the cursor, or turns the
// direction of what follows.
func hides(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}
