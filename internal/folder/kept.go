package folder

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kept are the names below which nothing is written, whatever an author
// excludes: what stands there is not data but says what is run, or what was
// allowed. A file in .git is a hook or a setting that names a program, .pex
// holds the journals in which approvals stand, pex.lock the tools a run may use.
// git~1 is what Windows' file systems call .git beside that.
var kept = []string{".git", "git~1", ".pex", "pex.lock"}

// writable says why a path that Clean gave is not written, or nil.
func writable(rel string) error {
	if !utf8.ValidString(rel) || strings.ContainsFunc(rel, unicode.IsControl) {
		return errors.New("the path holds a line break or another character that cannot be seen; pass a path without it")
	}
	for part := range strings.SplitSeq(rel, "/") {
		if name := folded(part); slices.Contains(kept, name) {
			return fmt.Errorf("%q is not written: %s says what is run and what was allowed, so no tool changes it; pass another path", rel, name)
		}
	}
	return nil
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

// Shown is a path as it is shown in a list with one path a line: one with a
// line break or another control character is quoted, so that a name cannot
// pass for a line of its own.
func Shown(path string) string {
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
