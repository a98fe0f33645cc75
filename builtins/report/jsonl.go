package report

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// JSONL writes every trial with all its details.
var JSONL = component.New("jsonl", "JSON Lines, one object per trial: input, answer, steps and marks.", defaults,
	func(*config, Settings) (Format, error) { return jsonlFormat{}, nil })

type jsonlFormat struct{}

var _ Format = jsonlFormat{}

// Write writes the counted rows.
func (jsonlFormat) Write(w io.Writer, _ *report.Report, rows trial.Rows) error {
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for row, err := range rows() {
		if err != nil {
			return err
		}
		if err := e.Encode(row); err != nil {
			return err
		}
	}
	return out.Flush()
}
