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

// MaxText is where a single text is cut. The journal has all of it.
const MaxText = 64 << 10

// page is what the template sees.
type page struct {
	*runview.View
	Policy   string
	Style    template.CSS
	Picture  template.HTML // an SVG that engine/graph drew
	Headline string        // status and what caused it
	Tone     string        // good, warn or bad
	Lanes    []lane
	EndMS    float64
	Costs    bool // some call has a known price
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

// Write writes a run as a page. The same view gives the same bytes.
func Write(w io.Writer, v *runview.View) error {
	style := loadStyle()
	p := &page{
		View: v, Style: template.CSS(style), Picture: template.HTML(v.Graph),
		Policy: strings.Join([]string{
			"default-src 'none'", "style-src " + hash(style) + " " + hash(graph.Style), "base-uri 'none'", "form-action 'none'",
		}, "; "),
		Headline: headline(v), Tone: tone(v.Status), Costs: v.Usage.CostUSD > 0,
	}
	p.Lanes, p.EndMS = lanes(v)
	if err := loadPage().Execute(w, p); err != nil {
		return fmt.Errorf("run page: %w", err)
	}
	return nil
}

// hash names an inline style sheet in a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// headline is the stop reason in words.
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
