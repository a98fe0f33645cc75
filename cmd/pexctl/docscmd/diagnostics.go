package docscmd

import (
	"bytes"
	"fmt"

	"github.com/pexctl/pex/dsl/diag"
)

// diagnosticPages returns diagnostics/README.md and a page for each code.
func diagnosticPages() []page {
	var index bytes.Buffer
	index.WriteString(generatedMark + "# Diagnostics\n\n" +
		"Each page explains one diagnostic code, with an example that reports it and one that does not; `pexctl explain CODE` prints the same. " +
		"The first file of an example is the one that is vetted.\n\n" +
		"The comment `# pex:ignore PEX073 reason` suppresses a warning: at the end of a line for that line, on a line of its own for the next line. " +
		"For a text of several lines, put it at the line where the text begins; for a prompt in a separate file, at the line that names the file. " +
		"`# pex:ignore-file PEX073 reason` before the first key applies to the whole file. " +
		"Errors cannot be suppressed, and comments in files from outside the project have no effect.\n" +
		"\n| code | |\n| --- | --- |\n")
	pages := []page{{name: "diagnostics/README.md", title: "Diagnostics: what each code means and how to fix it"}}
	for _, m := range diag.Codes() {
		fmt.Fprintf(&index, "| [%s](%s.md) | %s |\n", m.Code, m.Code, m.Title)
		pages = append(pages, page{name: fmt.Sprintf("diagnostics/%s.md", m.Code), text: DiagnosticPage(m)})
	}
	pages[0].text = index.Bytes()
	return pages
}

// DiagnosticPage returns the reference page of a code, in Markdown.
func DiagnosticPage(m diag.CodeDoc) []byte {
	return fmt.Appendf(nil, "%s# %s: %s\n\n%s", generatedMark, m.Code, m.Title, m.Body())
}
