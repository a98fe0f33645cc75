package dsl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/unseen"
)

// maxUnseen bounds the lines of one file that are told of, and the characters
// that are named of one line.
const maxUnseen = 10

// unseen warns about lines of a file with characters that its readers do not
// see: as written, so that an escape, which they see, is none. A file is looked
// at once.
func (r *report) unseen(src *source) {
	if slices.Contains(r.looked, src.path) && src.path != "" {
		return
	}
	r.looked = append(r.looked, src.path)
	begin := len(src.text) - len(bytes.TrimPrefix(src.text, []byte("\xef\xbb\xbf"))) // a mark of editors
	var line int
	var at place
	var found []string
	lines := 0
	tell := func() {
		if len(found) > 0 && lines < maxUnseen {
			before := len(r.list)
			r.warn(diag.HiddenText, at, "the line holds %s that nobody sees: %s", counted(len(found)), strings.Join(someOf(found), ", ")).
				Hint = `remove them; where one is meant, "\u200b" in double quotes says so`
			lines += len(r.list) - before // those that are ignored leave room for others
		}
		found = nil
	}
	for i, char := range unseen.In(string(src.text[begin:])) {
		p := src.at(begin + i)
		if p.line != line {
			tell()
			line, at = p.line, p
		}
		found = append(found, fmt.Sprintf("U+%04X", char))
	}
	tell()
}

func counted(n int) string {
	if n == 1 {
		return "a character"
	}
	return itoa(n) + " characters"
}

// someOf is each of the words once, as far as there is room.
func someOf(words []string) []string {
	var out []string
	for _, w := range words {
		if len(out) == maxUnseen {
			return append(out, "…")
		}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
