package ui

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/text"
)

const examplesHeading = "Examples:"

// description writes what Help returned, in lines of width columns.
func description(b *strings.Builder, text string, width int) {
	for i, block := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString("\n")
		}
		lines := strings.Split(block, "\n")
		rows, aligned := twoColumns(lines)
		switch {
		case lines[0] == examplesHeading:
			examples(b, lines[1:], width)
		case aligned:
			columns(b, rows, width)
		case strings.HasPrefix(lines[0], "  "):
			b.WriteString(block + "\n")
		default:
			paragraph(b, strings.Join(lines, " "), width)
		}
	}
}

// paragraph writes wrapped text.
func paragraph(b *strings.Builder, text string, width int) {
	for _, line := range wrap(text, width) {
		b.WriteString(line + "\n")
	}
}

var columnGap = text.Regexp(`^  (\S.*?) {2,}(\S.*)$`)

// twoColumns splits lines into two columns; ok is false if they do not have two.
func twoColumns(lines []string) (rows [][2]string, ok bool) {
	for _, line := range lines {
		m := columnGap().FindStringSubmatch(line)
		if m == nil {
			return nil, false
		}
		rows = append(rows, [2]string{m[1], m[2]})
	}
	return rows, true
}

// examples writes commands with their comments: beside them if all fit, otherwise
// above.
func examples(b *strings.Builder, lines []string, width int) {
	b.WriteString(examplesHeading + "\n")
	commands, comments := make([]string, len(lines)), make([]string, len(lines))
	widest := 0
	for i, line := range lines {
		command, comment, _ := strings.Cut(line, " # ")
		commands[i], comments[i] = strings.TrimSpace(command), comment
		widest = max(widest, tty.Width(commands[i]))
	}
	beside := true
	for i := range lines {
		beside = beside && (comments[i] == "" || 2+widest+4+tty.Width(comments[i]) <= width)
	}
	for i, command := range commands {
		switch {
		case comments[i] != "" && beside:
			fmt.Fprintf(b, "  %-*s  # %s\n", widest, command, comments[i])
			continue
		case comments[i] != "":
			for _, line := range wrap(comments[i], width-4) {
				b.WriteString("  # " + line + "\n")
			}
		}
		b.WriteString("  " + strings.Join(wrapCommand(command, width-4), " \\\n      ") + "\n")
	}
}

// columns writes rows of two columns and wraps the second one.
func columns(b *strings.Builder, rows [][2]string, width int) { alignedColumns(b, rows, 0, width) }

// alignedColumns is like columns, with a minimum width of the first column. If it
// takes more than half of a line, the second column goes below it.
func alignedColumns(b *strings.Builder, rows [][2]string, first, width int) {
	for _, r := range rows {
		first = max(first, tty.Width(r[0]))
	}
	if 2+first+2 > width/2 {
		for _, r := range rows {
			b.WriteString("  " + strings.TrimLeft(r[0], " ") + "\n")
			for _, line := range wrap(r[1], width-6) {
				b.WriteString("      " + line + "\n")
			}
		}
		return
	}
	for _, r := range rows {
		for i, line := range wrap(r[1], width-first-4) {
			if i > 0 {
				r[0] = ""
			}
			fmt.Fprintf(b, "  %-*s  %s\n", first, r[0], line)
		}
	}
}

// wrap breaks a text at spaces into lines of at most width columns. Longer words
// are not broken.
func wrap(text string, width int) []string { return join(strings.Split(text, " "), width) }

// commandWord matches a word of a command line, including quoted spaces.
var commandWord = text.Regexp(`(?:"[^"]*"|'[^']*'|[^\s"'])+`)

// wrapCommand is like wrap, for a command line: it breaks only between arguments,
// and not between a flag and its value.
func wrapCommand(command string, width int) []string {
	var words []string
	for _, word := range commandWord().FindAllString(command, -1) {
		if n := len(words); n > 0 && strings.HasPrefix(words[n-1], "--") && !strings.Contains(words[n-1], "=") {
			words[n-1] += " " + word // the value of a flag
			continue
		}
		words = append(words, word)
	}
	return join(words, width)
}

func join(words []string, width int) (lines []string) {
	line := ""
	for i, word := range words {
		if i > 0 && tty.Width(line)+1+tty.Width(word) > width {
			lines, line = append(lines, line), word
			continue
		}
		if i > 0 {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
