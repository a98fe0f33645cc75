package html

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// chunkCases is the number of table rows per element.
const chunkCases = 1000

// Write writes a report as a page with one table row for each of r.Cases. It streams
// rows, so memory use does not grow with their number. The output is deterministic. After
// an error, the output is incomplete and unusable.
func Write(w io.Writer, r *report.Report, rows trial.Rows) error {
	p := &page{w: bufio.NewWriterSize(w, 64<<10)}
	if err := p.start(r); err != nil {
		return err
	}
	if err := p.cases(r.Cases); err != nil {
		return err
	}
	if err := p.trials(rows); err != nil {
		return err
	}
	p.text("</body>\n</html>\n")
	return p.w.Flush()
}

// page is a page being written. Its writer stores the first error.
type page struct {
	w *bufio.Writer
}

// start writes everything before the cases and rows. The script follows the report's
// statistics, so that the browser draws them while the rest loads.
func (p *page) start(r *report.Report) error {
	a, name := loadAssets(), plain(r.Manifest.Suite+" · "+string(r.Verdict))
	p.text("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		"<meta http-equiv=\"Content-Security-Policy\" content=\"", a.policy, "\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
		"<meta name=\"referrer\" content=\"no-referrer\">\n",
		"<meta name=\"color-scheme\" content=\"light dark\">\n",
		"<title>", name, "</title>\n<style>", a.style, "</style>\n</head>\n<body>\n",
		"<noscript>", name, ": ", plain(r.Reason), "<br>Cases and trials need JavaScript.</noscript>\n", a.body)
	if err := p.data("report", r); err != nil {
		return fmt.Errorf("html report: %w", err)
	}
	p.text("<script>", a.script, "</script>\n")
	return nil
}

// cases writes the table rows.
func (p *page) cases(all report.Cases) error {
	for start := 0; start < all.Len(); start += chunkCases {
		if err := p.data("cases", all.Slice(start, min(start+chunkCases, all.Len()))); err != nil {
			return fmt.Errorf("html report: cases from %q on: %w", all.At(start).ID, err)
		}
	}
	return nil
}

// data writes an element that contains JSON. The JSON cannot end the element or start
// another, because encoding/json escapes <, >, &, U+2028 and U+2029 and replaces invalid
// UTF-8. Browsers do not execute it.
func (p *page) data(class string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	p.open(class)
	fmt.Fprintf(p.w, "%s", data)
	p.end()
	return nil
}

// plain returns a text that can be used between two tags: without markup and invisible
// characters.
func plain(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return utf8.RuneError
	}, text))
}

func (p *page) open(class string) {
	p.text("<script type=\"application/json\" class=\"", class, "\">")
}

func (p *page) end() { p.text("</script>\n") }

func (p *page) text(parts ...string) {
	for _, s := range parts {
		fmt.Fprint(p.w, s)
	}
}
