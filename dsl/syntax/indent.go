package syntax

import (
	"bytes"
	"fmt"

	"github.com/pexctl/pex/dsl/diag"
)

// maxMisindented is the maximum number of lines to check.
const maxMisindented = 16

// misindented returns the first line whose indentation ends a block but matches
// none of the blocks around it, so that the parser rejects the text from there
// on, with the indentations open there, or 0 if there is none. It searches a text
// that the parser rejected for a mistake that the parser does not name.
func misindented(text []byte) (line, has, less, more int) {
	open, n, looks := []int{-1}, 0, maxMisindented
	for rest := text; len(rest) > 0; {
		from := len(text) - len(rest)
		var row []byte
		row, rest, _ = bytes.Cut(rest, []byte("\n"))
		n++
		content := bytes.TrimLeft(row, " ")
		if len(bytes.TrimSpace(content)) == 0 || content[0] == '#' {
			continue
		}
		indent, last := len(row)-len(content), 0
		for open[len(open)-1] > indent {
			last, open = open[len(open)-1], open[:len(open)-1]
		}
		top := open[len(open)-1]
		if last > 0 && top < indent && top >= 0 && looks > 0 {
			if looks--; breaks(text, from, from+len(row)) {
				return n, indent, top, last
			}
		}
		if top < indent {
			open = append(open, indent)
		}
		for bytes.HasPrefix(content, []byte("- ")) { // a dash opens a nested block
			content = bytes.TrimLeft(content[1:], " ")
			open = append(open, len(row)-len(content))
		}
		if opensBlock(row) {
			passed, behind := behindBlock(rest, indent)
			n, rest = n+passed, behind
		}
	}
	return 0, 0, 0, 0
}

// breaks reports whether the parser accepts a text up to a row, but not including
// it: a row within a text or in brackets may have any indentation.
func breaks(text []byte, from, to int) bool {
	if _, _, err := DecodeYAML(text[:from]); err != nil {
		return false
	}
	_, _, err := DecodeYAML(text[:to])
	return err != nil
}

// behindBlock returns the text after a block scalar whose header has this
// indentation, and the number of its lines.
func behindBlock(text []byte, indent int) (lines int, rest []byte) {
	s := scanner{src: text}
	s.skipBlock(indent)
	return bytes.Count(text[:s.i], []byte("\n")), text[s.i:]
}

// reportIndent reports the line that matches no block around it. It returns false
// if there is none.
func reportIndent(src *Source, r *Report) bool {
	line, has, less, more := misindented(src.Text)
	if line == 0 {
		return false
	}
	d := r.Error(diag.Syntax, findText(src, line, ""), "the line is indented by %s, which matches no block above it", spaces(has))
	d.Hint = fmt.Sprintf("indent it by %s to continue the block above, or by %d to continue the enclosing block", spaces(more), less)
	return true
}

func spaces(n int) string {
	if n == 1 {
		return "1 space"
	}
	return fmt.Sprintf("%d spaces", n)
}
