package ui

import (
	"fmt"
	"io"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/dsl/diag"
)

// diagnosticColors are the colors of the parts of a diagnostic.
var diagnosticColors = map[diag.Part]tty.Ink{
	diag.PartPlace: tty.Bold, diag.PartError: tty.Bold + tty.Red, diag.PartWarning: tty.Bold + tty.Yellow,
	diag.PartCode: tty.Bold, diag.PartGutter: tty.Dim, diag.PartCaret: tty.Red, diag.PartHint: tty.Green,
}

// WriteDiagnostics writes diagnostics as text, in color if the stream supports
// it, and with source lines that fit into its width.
func WriteDiagnostics(w io.Writer, found diag.List) {
	pen, width := tty.Pen{Color: UsesColor(w)}, 0
	if _, ok := Terminal(w); ok {
		width = Columns(w)
	}
	fmt.Fprint(Styled(w), found.Format(width, func(part diag.Part, text string) string { return pen.Ink(diagnosticColors[part], text) }))
}

// ShowDiagnostics prints diagnostics: text on stderr, or with -o json an error list on stdout.
func ShowDiagnostics(c *Call, found diag.List) error {
	if c.Quiet && !found.Failed() {
		return nil
	}
	if c.String("output") == "json" && found.Failed() {
		if err := PrintJSON(c, found); err != nil {
			return err
		}
	}
	WriteDiagnostics(c.Stderr, found)
	return Invalid(found)
}
