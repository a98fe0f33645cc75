package syntax

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/invisible"
)

// maxHidden is the maximum number of reported lines per file, and of listed
// characters per line.
const maxHidden = 10

// HiddenText warns about lines of a file with invisible characters. Escapes do
// not count, because they are visible. Each file is scanned once.
func (r *Report) HiddenText(src *Source) {
	if slices.Contains(r.scanned, src.Path) && src.Path != "" {
		return
	}
	r.scanned = append(r.scanned, src.Path)
	begin := len(src.Text) - len(bytes.TrimPrefix(src.Text, []byte("\xef\xbb\xbf"))) // skip a byte order mark
	var line int
	var at Position
	var found []string
	lines := 0
	flush := func() {
		if len(found) > 0 && lines < maxHidden {
			before := len(r.List)
			r.Warn(diag.HiddenText, at, "the line contains %s: %s", counted(len(found)), strings.Join(limitWords(found), ", ")).
				Hint = `remove them; if one is intended, write it as an escape in double quotes: "\u200b"`
			lines += len(r.List) - before // ignored ones do not count
		}
		found = nil
	}
	for i, char := range invisible.In(string(src.Text[begin:])) {
		p := src.PositionAt(begin + i)
		if p.Line != line {
			flush()
			line, at = p.Line, p
		}
		found = append(found, fmt.Sprintf("U+%04X", char))
	}
	flush()
}

func counted(n int) string {
	if n == 1 {
		return "an invisible character"
	}
	return strconv.Itoa(n) + " invisible characters"
}

// limitWords returns the words without duplicates, up to the maximum.
func limitWords(words []string) []string {
	var out []string
	for _, w := range words {
		if len(out) == maxHidden {
			return append(out, "…")
		}
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}
