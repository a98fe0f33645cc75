package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// pageMost is the size of a page where nobody says so: a step summary of GitHub
// takes 1 MiB.
const pageMost = 1<<20 - 1

// page is a Markdown text that is being written, of at most so many bytes.
// Parts go in whole; after the first that has no room none does.
type page struct {
	b    strings.Builder
	most int
	left int // parts without room
}

// note is room kept for the last line.
const note = 200

func newPage(s Settings) *page {
	if s.MaxBytes <= 0 {
		s.MaxBytes = pageMost
	}
	return &page{most: max(s.MaxBytes, 10*note)}
}

// part adds a part, with an empty line behind it.
func (p *page) part(text string) {
	if p.left > 0 || p.b.Len()+len(text)+1+note > p.most {
		p.left++
		return
	}
	p.b.WriteString(strings.TrimRight(text, "\n") + "\n\n")
}

// table adds a table with its heading first; the cells are Markdown already.
// The columns from left on up to right have figures.
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

// details adds a part that is closed until someone opens it.
func (p *page) details(head, body string) {
	p.part("<details><summary>" + head + "</summary>\n\n" + strings.TrimRight(body, "\n") + "\n\n</details>")
}

func (p *page) writeTo(w io.Writer) error {
	if p.left > 0 {
		fmt.Fprintf(&p.b, "*%d more %s left out: this page may have %d bytes.*\n", p.left, text.Plural(p.left, "part"), p.most)
	}
	_, err := io.WriteString(w, strings.TrimRight(p.b.String(), "\n")+"\n")
	return err
}
