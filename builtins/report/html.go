package report

import (
	"io"

	"github.com/pexctl/pex/builtins/report/html"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// HTML writes a self-contained page with every case and every trial, with its plan, steps
// and checks.
var HTML = component.New("html", "Self-contained HTML page: sort and filter cases, with plan, steps and checks of each trial.", defaults,
	func(*config, Settings) (Format, error) { return htmlFormat{}, nil })

type htmlFormat struct{}

var _ Format = htmlFormat{}

// Write implements Format.
func (htmlFormat) Write(w io.Writer, r *report.Report, rows trial.Rows) error {
	return html.Write(w, r, rows)
}
