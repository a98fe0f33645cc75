package speccmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/internal/app/failure"
)

// ExplainCommand returns "pexctl explain".
func ExplainCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "explain", Usage: "Explain a diagnostic code, with examples", ArgsUsage: "[CODE]",
		Description: ui.Help("", "pexctl explain PEX012", "pexctl explain # List all codes"),
		Flags:       []cli.Flag{ui.OutputFlag()},
		Action:      env.Action(withFlags(explain), 1),
	}
}

func explain(c *call) error {
	code := c.Arg(0)
	if code == "" {
		return explainAll(c, c.JSON)
	}
	m, ok := diag.Explain(normalizeCode(code))
	switch {
	case !ok:
		return failure.WithHintf(failure.Usagef("unknown diagnostic code %q", code), "%sto list all codes, run pexctl explain", nearCode(code))
	case c.JSON:
		return ui.PrintJSON(c.Call, m)
	}
	printMeaning(ui.Styled(c.Stdout), m)
	return nil
}

// normalizeCode returns the full form of a code: pex12 and 12 are PEX012.
func normalizeCode(word string) string {
	word = strings.ToUpper(strings.TrimSpace(word))
	if n, err := strconv.Atoi(strings.TrimPrefix(word, "PEX")); err == nil {
		return fmt.Sprintf("PEX%03d", n)
	}
	return word
}

func nearCode(word string) string {
	var all []string
	for _, m := range diag.Codes() {
		all = append(all, string(m.Code))
	}
	if near := diag.Nearest(normalizeCode(word), all); near != "" {
		return "did you mean " + near + "? "
	}
	return ""
}

func explainAll(c *call, wantJSON bool) error {
	if wantJSON {
		return ui.PrintJSON(c.Call, struct {
			Codes []diag.CodeDoc `json:"codes"`
		}{diag.Codes()})
	}
	for _, m := range diag.Codes() {
		fmt.Fprintf(c.Stdout, "%s  %s\n", m.Code, m.Title)
	}
	return nil
}

// explainWidth is the width of explained text, in columns.
const explainWidth = 90

// printMeaning prints the documentation of a code.
func printMeaning(w io.Writer, m diag.CodeDoc) {
	pen := tty.Pen{Color: ui.UsesColor(w)}
	fmt.Fprintf(w, "%s: %s\n\n", pen.Ink(tty.Bold, string(m.Code)), m.Title)
	for _, line := range inLines(m.Meaning, explainWidth) {
		fmt.Fprintln(w, line)
	}
	printExample(w, pen.Ink(tty.Red, "Wrong"), m.Wrong, pen)
	printExample(w, pen.Ink(tty.Green, "Right"), m.Right, pen)
}

// printExample prints the files of an example. The name of an only file is
// omitted.
func printExample(w io.Writer, head string, e diag.Example, pen tty.Pen) {
	if len(e.Files) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", head)
	for i, f := range e.Files {
		if len(e.Files) > 1 {
			fmt.Fprintf(w, "%s  %s\n", strings.Repeat("\n", min(i, 1)), pen.Ink(tty.Dim, f.Name))
		}
		for line := range strings.Lines(f.Text) {
			fmt.Fprintf(w, "  %s\n", tty.Safe(strings.TrimRight(line, "\n")))
		}
	}
	if e.Command != "" {
		fmt.Fprintf(w, "\n  $ %s\n", e.Command)
	}
}

// inLines breaks a text at spaces into lines of at most width characters.
func inLines(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
