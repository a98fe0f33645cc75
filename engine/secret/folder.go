package secret

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// folder is a folder of this machine and its replacement.
type folder struct{ path, word string }

// Folder returns v extended to show a folder of this machine as a name in angle brackets:
// <root>/data for /home/ana/shop/data. Folders are not secret, but recordings should be
// the same on every machine. Of nested folders the innermost counts. Relative paths and
// the root directory are ignored.
func (v *Values) Folder(path, name string) *Values {
	out := &Values{}
	if v != nil {
		*out = *v
	}
	if path = filepath.Clean(path); filepath.IsAbs(path) && filepath.Dir(path) != path {
		out.folders = append(slices.Clip(out.folders), folder{path, "<" + name + ">"})
	}
	return out
}

// in finds the folder in a text, but not as part of another name.
func (f folder) in(s string) (found []hit) {
	for at := 0; ; {
		i := strings.Index(s[at:], f.path)
		if i < 0 {
			return found
		}
		from, to := at+i, at+i+len(f.path)
		if startsWord(s, from) && endsName(s[to:]) {
			found = append(found, hit{from: from, to: to, mark: f.word})
		}
		at = to
	}
}

// endsName reports whether a name ends before rest.
func endsName(rest string) bool {
	r, size := utf8.DecodeRuneInString(rest)
	if r == '.' || r == '-' {
		r, _ = utf8.DecodeRuneInString(rest[size:])
	}
	return rest == "" || !partOfName(r)
}

func partOfName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
