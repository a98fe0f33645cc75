package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// defaultPageSize is the default size limit: that of a GitHub step summary, 1 MiB.
const defaultPageSize = 1<<20 - 1

// page is a Markdown text with a size limit. Parts are added as a whole; after the first
// one that does not fit, all others are omitted.
type page struct {
	b        strings.Builder
	maxBytes int
	omitted  int // number of omitted parts
}

// note is the space reserved for the last line.
const note = 200

func newPage(s Settings) *page {
	if s.MaxBytes <= 0 {
		s.MaxBytes = defaultPageSize
	}
	return &page{maxBytes: max(s.MaxBytes, 10*note)}
}

// part adds a part followed by an empty line.
func (p *page) part(text string) {
	if p.omitted > 0 || p.b.Len()+len(text)+1+note > p.maxBytes {
		p.omitted++
		return
	}
	p.b.WriteString(strings.TrimRight(text, "\n") + "\n\n")
}

// table adds a table whose first row is the header. Cells must be Markdown. Columns from
// left up to right are right-aligned.
func (p *page) table(rows [][]string, left, right int) {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i > 0 {
			continue
		}
		for j := range row {
			b.WriteString(map[bool]string{false: "| --- ", true: "| ---: "}[left <= j && j < right])
		}
		b.WriteString("|\n")
	}
	p.part(b.String())
}

// details adds a collapsed part.
func (p *page) details(head, body string) {
	p.part("<details><summary>" + head + "</summary>\n\n" + strings.TrimRight(body, "\n") + "\n\n</details>")
}

func (p *page) writeTo(w io.Writer) error {
	if p.omitted > 0 {
		fmt.Fprintf(&p.b, "*%d more %s left out: this page may have %d bytes.*\n", p.omitted, text.Plural(p.omitted, "part"), p.maxBytes)
	}
	_, err := io.WriteString(w, strings.TrimRight(p.b.String(), "\n")+"\n")
	return err
}
