package secret

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// folder is one of this machine, and the word that stands for it.
type folder struct{ path, word string }

// Folder is v, and shows a folder of this machine as a name in angle brackets:
// <root>/data for /home/ana/shop/data. It is no secret, but recordings are to
// be the same wherever they are made. Of folders within each other the inner
// counts. A path that is not absolute, or is all of the machine, stays.
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

// in finds the folder in a text; within another name it is none.
func (f folder) in(s string) (found []hit) {
	for at := 0; ; {
		i := strings.Index(s[at:], f.path)
		if i < 0 {
			return found
		}
		from, to := at+i, at+i+len(f.path)
		if begins(s, from) && endsName(s[to:]) {
			found = append(found, hit{from: from, to: to, mark: f.word})
		}
		at = to
	}
}

// endsName says that what follows a name is no part of it.
func endsName(rest string) bool {
	r, size := utf8.DecodeRuneInString(rest)
	if r == '.' || r == '-' {
		r, _ = utf8.DecodeRuneInString(rest[size:])
	}
	return rest == "" || !partOfName(r)
}

func partOfName(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
