package runpage

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/runview"
)

//go:embed page
var files embed.FS

// MaxText is the length at which a text is truncated. The journal contains the complete
// text.
const MaxText = 64 << 10

// page is the data of the template.
type page struct {
	*runview.View
	Policy   string
	Style    template.CSS
	Picture  template.HTML // SVG drawn by engine/graph
	Headline string        // status and cause
	Tone     string        // good, warn or bad
	Lanes    []lane
	EndMS    float64
	Costs    bool  // at least one call has a known price
	live     *Live // nil = the page is complete in itself
}

var loadPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(funcs).ParseFS(files, "page/*.html"))
})

var loadStyle = sync.OnceValue(func() string {
	text, err := files.ReadFile("page/page.css")
	if err != nil {
		panic("runpage: " + err.Error())
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		b.WriteString(strings.TrimLeft(line, " \t"))
	}
	return b.String()
})

// Write writes a run as a page. The output is deterministic.
func Write(w io.Writer, v *runview.View) error {
	style := loadStyle()
	p := newPage(v)
	p.Style = template.CSS(style)
	p.Policy = strings.Join([]string{
		"default-src 'none'", "style-src " + hash(style) + " " + hash(graph.Style), "base-uri 'none'", "form-action 'none'",
	}, "; ")
	if err := loadPage().Execute(w, p); err != nil {
		return fmt.Errorf("run page: %w", err)
	}
	return nil
}

// Style returns the style sheet of the page.
func Style() string { return loadStyle() }

// GraphPolicy returns the source that style-src of a content security policy needs for the
// pictures of graphs.
func GraphPolicy() string { return hash(graph.Style) }

func newPage(v *runview.View) *page {
	p := &page{View: v, Picture: template.HTML(v.Graph), Headline: headline(v), Tone: tone(v.Status), Costs: v.Usage.CostUSD > 0}
	p.Lanes, p.EndMS = lanes(v)
	return p
}

// hash returns the CSP hash of an inline style sheet.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// headline describes the stop reason.
func headline(v *runview.View) string {
	text := string(v.Stop.Code)
	switch message := v.Stop.Message; {
	case strings.HasPrefix(message, text):
		text = message
	case message != "":
		text += ": " + message
	}
	if path := v.Stop.Path; path != "" && !strings.HasSuffix(text, path) {
		text += " (" + path + ")"
	}
	return text
}

func tone(status string) string {
	switch status {
	case "completed", "ok":
		return "good"
	case "failed", "cancelled", "error":
		return "bad"
	}
	return "warn"
}
