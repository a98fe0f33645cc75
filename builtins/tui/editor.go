package tui

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/builtins/tty"
)

// Editor is a text of several lines with a cursor, and the texts before it. The zero Editor is
// empty.
type Editor struct {
	text    []rune
	at      int // cursor: index of text
	size    int // bytes of text
	history []string
	older   int    // how many steps back in the history; 0 = the draft
	draft   string // what was typed before the history was used
}

// Text returns the text.
func (e *Editor) Text() string { return string(e.text) }

// Size returns the size of the text in bytes.
func (e *Editor) Size() int { return e.size }

// Set replaces the text. The cursor is at its end.
func (e *Editor) Set(s string) {
	e.text = []rune(s)
	e.at, e.size = len(e.text), len(s)
}

// Take returns the text, adds it to the history, and clears the editor.
func (e *Editor) Take() string {
	s := e.Text()
	if strings.TrimSpace(s) != "" && (len(e.history) == 0 || e.history[len(e.history)-1] != s) {
		e.history = append(e.history, s)
	}
	e.Set("")
	e.older, e.draft = 0, ""
	return s
}

// Insert inserts a text at the cursor. Line breaks of any form become \n.
func (e *Editor) Insert(s string) {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	r := []rune(s)
	e.text = slices.Insert(e.text, e.at, r...)
	e.at += len(r)
	e.size += len(s)
}

// remove removes the characters from a to b.
func (e *Editor) remove(a, b int) {
	for _, r := range e.text[a:b] {
		e.size -= max(utf8.RuneLen(r), 1)
	}
	e.text = slices.Delete(e.text, a, b)
	e.at = a
}

// edit carries out an editing key, and reports whether it is one.
func (e *Editor) edit(key string) bool {
	switch key {
	case "left", "ctrl+b":
		e.at = max(e.at-1, 0)
	case "right", "ctrl+f":
		e.at = min(e.at+1, len(e.text))
	case "home", "ctrl+a":
		e.at = e.lineStart(e.at)
	case "end", "ctrl+e":
		e.at = e.lineEnd(e.at)
	case "alt+left", "ctrl+left", "alt+b":
		e.at = e.wordStart()
	case "alt+right", "ctrl+right", "alt+f":
		e.at = e.wordEnd()
	case "backspace", "ctrl+h":
		e.remove(max(e.at-1, 0), e.at)
	case "delete":
		e.remove(e.at, min(e.at+1, len(e.text)))
	case "ctrl+w", "alt+backspace":
		e.remove(e.wordStart(), e.at)
	case "ctrl+u":
		e.remove(e.lineStart(e.at), e.at)
	case "ctrl+k":
		e.remove(e.at, e.lineEnd(e.at))
	case "alt+enter", "shift+enter", "ctrl+j":
		e.Insert("\n")
	case "up", "ctrl+p":
		e.up()
	case "down", "ctrl+n":
		e.down()
	default:
		return false
	}
	return true
}

func (e *Editor) lineStart(at int) int {
	for at > 0 && e.text[at-1] != '\n' {
		at--
	}
	return at
}

func (e *Editor) lineEnd(at int) int {
	for at < len(e.text) && e.text[at] != '\n' {
		at++
	}
	return at
}

func (e *Editor) wordStart() int {
	at := e.at
	for at > 0 && unicode.IsSpace(e.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(e.text[at-1]) {
		at--
	}
	return at
}

func (e *Editor) wordEnd() int {
	at := e.at
	for at < len(e.text) && unicode.IsSpace(e.text[at]) {
		at++
	}
	for at < len(e.text) && !unicode.IsSpace(e.text[at]) {
		at++
	}
	return at
}

// up moves the cursor to the line above. In the first line, it shows the text before in the history.
func (e *Editor) up() {
	start := e.lineStart(e.at)
	if start == 0 {
		e.recall(e.older + 1)
		return
	}
	above := e.lineStart(start - 1)
	e.at = min(above+e.at-start, start-1)
}

func (e *Editor) down() {
	end := e.lineEnd(e.at)
	if end == len(e.text) {
		e.recall(e.older - 1)
		return
	}
	e.at = min(end+1+e.at-e.lineStart(e.at), e.lineEnd(end+1))
}

// recall shows a text of the history: 1 is the latest, 0 the draft.
func (e *Editor) recall(older int) {
	if older < 0 || older > len(e.history) || older == e.older {
		return
	}
	if e.older == 0 {
		e.draft = e.Text()
	}
	e.older = older
	if older == 0 {
		e.Set(e.draft)
		return
	}
	e.Set(e.history[len(e.history)-older])
}

// complete completes the first word of the text by the only name that starts with it, or as far
// as all do.
func (e *Editor) complete(names []string) {
	word := string(e.text[:e.at])
	if word == "" || strings.ContainsAny(word, " \n") {
		return
	}
	var found []string
	for _, n := range names {
		if strings.HasPrefix(n, word) {
			found = append(found, n)
		}
	}
	if len(found) == 0 {
		return
	}
	common := found[0]
	for _, n := range found[1:] {
		for !strings.HasPrefix(n, common) {
			common = common[:len(common)-1]
		}
	}
	if len(found) == 1 {
		common += " "
	}
	e.Insert(strings.TrimPrefix(common, word))
}

// shownText is how many characters before and after the cursor are laid out.
const shownText = 4000

// layout breaks the text into lines of width columns, at most rows around the cursor, and returns
// the place of the cursor in them. Control characters are made visible.
func (e *Editor) layout(width, rows int) (lines []string, x, y int) {
	from, to := max(0, e.at-shownText), min(len(e.text), e.at+shownText)
	var b strings.Builder
	used, cursorX, cursorY := 0, 0, 0
	flush := func() { lines = append(lines, b.String()); b.Reset(); used = 0 }
	for i := from; i <= to; i++ {
		if i == e.at {
			cursorX, cursorY = used, len(lines)
		}
		if i == to {
			break
		}
		if e.text[i] == '\n' {
			flush()
			continue
		}
		shown := shownRune(e.text[i])
		if w := tty.Width(shown); used+w > width {
			flush()
			if i == e.at {
				cursorX, cursorY = 0, len(lines)
			}
		}
		b.WriteString(shown)
		used += tty.Width(shown)
	}
	flush()
	if cursorX >= width { // after a full line
		cursorX, cursorY = 0, cursorY+1
		if cursorY == len(lines) {
			lines = append(lines, "")
		}
	}
	first := min(max(0, cursorY-rows+1), max(0, len(lines)-rows))
	return lines[first:min(len(lines), first+rows)], cursorX, cursorY - first
}

// shownRune returns how a character is shown.
func shownRune(r rune) string {
	if r == '\t' {
		return "  "
	}
	return tty.Safe(string(r))
}
