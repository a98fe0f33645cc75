package markdown

import (
	"fmt"
	"html"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/text"
)

var ticks = text.Regexp("`+")

// fenceFor returns a row of more than n backticks that is longer than any in the text.
func fenceFor(text string, n int) string {
	for _, run := range ticks().FindAllString(text, -1) {
		n = max(n, len(run))
	}
	return strings.Repeat("`", n+1)
}

// Code returns a text as inline code of at most n columns. "" stays "".
func Code(s string, n int) string {
	s = tty.OneLine(s, n)
	if s == "" {
		return ""
	}
	fence := fenceFor(s, 0)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

var pipes = text.Regexp(`(\\*)\|`)

// Cell returns a text as code in a table, where an unescaped bar ends the cell. Existing
// backslashes before a bar are doubled, so that parsers that process escapes and those
// that do not both see one cell.
func Cell(s string, n int) string {
	return pipes().ReplaceAllString(Code(s, n), `$1$1\|`)
}

// Block returns a text as a code block of at most n lines, each truncated to 400 columns.
// Lines are indented by two spaces, except in a diff, because bots take a comment line
// that starts with a slash or a mention for a command.
func Block(lang, text string, n int) string {
	const widest = 400
	lines := strings.Split(strings.TrimRight(tty.Safe(text), "\n"), "\n")
	more := len(lines) - n
	lines = lines[:min(len(lines), n)]
	for i, line := range lines {
		if tty.Width(line) > widest {
			line = tty.OneLine(line, widest)
		}
		if lang == "" || !diffLine(line) {
			line = "  " + line
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	if more > 0 {
		word := "lines"
		if more == 1 {
			word = "line"
		}
		lines = append(lines, fmt.Sprintf("  … %d more %s", more, word))
	}
	body := strings.Join(lines, "\n")
	fence := fenceFor(body, 2)
	return fence + lang + "\n" + body + "\n" + fence + "\n"
}

// diffLine reports whether a line starts like one of a diff.
func diffLine(line string) bool {
	return line == "" || strings.Contains("+- ", line[:1]) || strings.HasPrefix(line, "@@ ")
}

var escapes = func() *strings.Replacer {
	const nothing = "&#8203;" // zero width: breaks up words that GitHub would interpret
	pairs := []string{
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "$", "<span>$</span>",
		"@", "@" + nothing, "#", "#" + nothing, "://", ":" + nothing + "//", "www.", "www" + nothing + ".", "WWW.", "WWW" + nothing + ".",
	}
	for _, c := range "\\`*_[]|~!" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

// Prose escapes a sentence that may contain untrusted texts, on one line.
func Prose(s string, n int) string { return escapes.Replace(tty.OneLine(s, n)) }

// Summary escapes the summary line of a collapsed part, which is HTML.
func Summary(s string, n int) string {
	return "<code>" + strings.ReplaceAll(html.EscapeString(tty.OneLine(s, n)), "`", "&#96;") + "</code>"
}
