package markdown

import (
	"fmt"
	"html"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/text"
)

var ticks = text.Regexp("`+")

// fenceFor is a row of backticks longer than any in the text, and than n.
func fenceFor(text string, n int) string {
	for _, run := range ticks().FindAllString(text, -1) {
		n = max(n, len(run))
	}
	return strings.Repeat("`", n+1)
}

// Code is a text as code in a line, at most n columns of it; "" stays "".
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

// Cell is code in a table, where a bar ends the cell unless a backslash stands
// before it. Backslashes that stand there already are doubled: what reads them
// in pairs and what does not both see one cell.
func Cell(s string, n int) string {
	return pipes().ReplaceAllString(Code(s, n), `$1$1\|`)
}

// Block is a text as a block of at most n lines, each cut at 400 columns. Plain
// lines stand behind two spaces: robots that read comments take one that begins
// with a slash or a mention for a command. Those of a diff have a sign there.
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

// diffLine says that a line begins as those of a diff do.
func diffLine(line string) bool {
	return line == "" || strings.Contains("+- ", line[:1]) || strings.HasPrefix(line, "@@ ")
}

var escapes = func() *strings.Replacer {
	const nothing = "&#8203;" // of no width: keeps a word from being one that Markdown's readers act on
	pairs := []string{
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "$", "<span>$</span>",
		"@", "@" + nothing, "#", "#" + nothing, "://", ":" + nothing + "//", "www.", "www" + nothing + ".", "WWW.", "WWW" + nothing + ".",
	}
	for _, c := range "\\`*_[]|~!" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

// Prose is a sentence that may hold texts that are not ours, on one line.
func Prose(s string, n int) string { return escapes.Replace(tty.OneLine(s, n)) }

// Summary is the line of a part that opens: HTML, which Markdown leaves alone.
func Summary(s string, n int) string {
	return "<code>" + strings.ReplaceAll(html.EscapeString(tty.OneLine(s, n)), "`", "&#96;") + "</code>"
}
