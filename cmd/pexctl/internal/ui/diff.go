package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/markdown"
	"github.com/pexctl/pex/eval/textdiff"
)

// SourceDiff returns the diff of two resolved specs.
func SourceDiff(nameA string, a json.RawMessage, nameB string, b json.RawMessage) string {
	return textdiff.Files(nameA, indented(a), nameB, indented(b))
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw) + "\n"
	}
	return b.String() + "\n"
}

// PrintDiff writes a unified diff, in color on a terminal.
func PrintDiff(w io.Writer, diff string) {
	color := UsesColor(w)
	for text := range strings.Lines(diff) {
		text = strings.TrimSuffix(Safe(w, text), "\n")
		if ink := DiffColor(text); color && ink != "" {
			text = ink + text + "\x1b[0m"
		}
		fmt.Fprintln(w, text)
	}
}

// DiffColor returns the escape sequence that colors a line of a diff, or "".
func DiffColor(line string) string {
	switch {
	case strings.HasPrefix(line, "-"):
		return "\x1b[31m"
	case strings.HasPrefix(line, "+"):
		return "\x1b[32m"
	case strings.HasPrefix(line, "@@"):
		return "\x1b[2m"
	}
	return ""
}

// commentDiff is the maximum number of lines of one diff in a comment.
const commentDiff = 80

// MarkdownDiff writes a diff in a collapsible section.
func MarkdownDiff(w io.Writer, title, diff string) {
	if diff != "" {
		fmt.Fprintf(w, "\n<details><summary>%s</summary>\n\n%s\n</details>\n", markdown.Summary(title, 120), markdown.Block("diff", diff, commentDiff))
	}
}

// DiffHelp distinguishes the commands named diff, for their help.
const DiffHelp = `pexctl diff compares two specs without running them. pexctl runs diff compares two runs. pexctl eval diff compares two evaluations statistically.`

// ExitCodeFlag returns --exit-code, for exit code 1 if there are differences.
func ExitCodeFlag() cli.Flag {
	return &cli.BoolFlag{Name: "exit-code", Usage: "Exit with 1 if there are differences"}
}
