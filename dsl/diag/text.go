package diag

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// The maximum number of characters shown of a source line: maxLine, or fewer on a
// narrower terminal, but at least minLine.
const (
	maxLine = 120
	minLine = 24
	gutter  = 7 // the columns beside the text and the line number, with an ellipsis at each end
)

// Part is a part of a formatted diagnostic, for colors.
type Part int

// Parts of a diagnostic.
const (
	PartPlace Part = iota
	PartError
	PartWarning
	PartCode
	PartGutter
	PartCaret
	PartHint
)

// Write writes a list as text: place, severity, code and message, the source line
// with a caret under the column, and the hint.
func (l List) Write(w io.Writer) error {
	_, err := io.WriteString(w, l.String())
	return err
}

// String returns the text that Write writes.
func (l List) String() string { return l.Format(0, unpainted) }

// Format is like String, with paint applied to each part and source lines that fit into
// columns of a terminal; 0 = no terminal.
func (l List) Format(columns int, paint func(Part, string) string) string {
	var b strings.Builder
	for _, d := range l {
		d.format(&b, columns, paint)
	}
	return b.String()
}

// String returns the diagnostic as text.
func (d Diagnostic) String() string { return List{d}.String() }

func unpainted(_ Part, text string) string { return text }

func (d Diagnostic) format(b *strings.Builder, columns int, paint func(Part, string) string) {
	severity := PartError
	if d.Severity == Warning {
		severity = PartWarning
	}
	fmt.Fprintf(b, "%s: %s %s: %s\n", paint(PartPlace, d.place()), paint(severity, string(d.Severity)), paint(PartCode, string(d.Code)), escapeControls(d.Message))
	if d.Snippet != "" && d.Line > 0 {
		number, most := fmt.Sprint(d.Line), maxLine
		if columns > 0 {
			most = min(max(columns-len(number)-gutter, minLine), maxLine)
		}
		line, indent := excerpt(d.Snippet, d.Column-max(d.SnippetColumn-1, 0), most)
		fmt.Fprintf(b, "  %s %s\n", paint(PartGutter, number+" |"), line)
		fmt.Fprintf(b, "  %s %s%s\n", paint(PartGutter, strings.Repeat(" ", len(number))+" |"), indent, paint(PartCaret, "^"))
	}
	if d.Hint != "" {
		fmt.Fprintf(b, "  %s %s\n", paint(PartHint, "hint:"), escapeControls(d.Hint))
	}
}

func (d Diagnostic) place() string {
	file := escapeControls(d.File)
	if d.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, d.Line, d.Column)
}

// excerpt returns at most most characters of a line around a column, and the white space
// before a caret under it. Both keep tabs, so that they line up at any tab width. Wide
// characters take two columns.
func excerpt(line string, column, most int) (shown, space string) {
	runes := []rune(strings.TrimRight(line, "\r\n"))
	at := min(max(column-1, 0), len(runes))
	from := 0
	if at > most*2/3 {
		from = at - most/3
	}
	to := min(len(runes), from+most)
	var before strings.Builder
	for _, r := range runes[from:at] {
		switch {
		case r == '\t':
			before.WriteByte('\t')
		case isWide(r):
			before.WriteString("  ")
		case !unicode.Is(unicode.Mn, r):
			before.WriteByte(' ')
		}
	}
	shown, space = escapeControls(string(runes[from:to])), before.String()
	if from > 0 {
		shown, space = "…"+shown, " "+space
	}
	if to < len(runes) {
		shown += "…"
	}
	return shown, space
}

// escapeControls escapes control characters, so that a spec cannot control the terminal.
func escapeControls(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return r
		case r == '\n':
			return ' '
		case r < 0x20:
			return 0x2400 + r
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r):
			return '�'
		}
		return r
	}, s)
}

// isWide reports whether terminals show a character in two columns.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) ||
		r >= 0xFF01 && r <= 0xFF60 || r >= 0x1F300 && r <= 0x1FAFF || r >= 0x3000 && r <= 0x303E
}
