package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// JSON writes the whole report, for programs.
var JSON = component.New("json", "The report as one JSON object: verdict, statistics, gates, comparison and every case.", defaults,
	func(*config, Settings) (Format, error) { return jsonFormat{}, nil })

type jsonFormat struct{}

var (
	_ Format = jsonFormat{}
	_ Tests  = jsonFormat{}
	_ Diffs  = jsonFormat{}
)

// Write writes the report with its cases, one per line.
func (jsonFormat) Write(w io.Writer, r *report.Report, _ trial.Rows) error {
	head, err := indented(r)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	_, _ = out.Write(bytes.TrimSuffix(head, []byte("\n}\n"))) // Flush returns the error
	_, _ = out.WriteString(",\n  \"cases\": [")
	for i, c := range r.Cases.All() {
		line, err := compact(c)
		if err != nil {
			return err
		}
		if i > 0 {
			_ = out.WriteByte(',')
		}
		_, _ = out.WriteString("\n    ")
		_, _ = out.Write(bytes.TrimSuffix(line, []byte("\n")))
	}
	if r.Cases.Len() > 0 {
		_, _ = out.WriteString("\n  ")
	}
	_, _ = out.WriteString("]\n}\n")
	return out.Flush()
}

// WriteTests writes the results as one object.
func (jsonFormat) WriteTests(w io.Writer, r *report.TestReport) error { return writeIndented(w, r) }

// WriteDiff writes both reports without their cases, and the comparison.
func (jsonFormat) WriteDiff(w io.Writer, d *Diff) error { return writeIndented(w, d) }

func writeIndented(w io.Writer, v any) error {
	data, err := indented(v)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func indented(v any) ([]byte, error) { return encodeJSON(v, "  ") }
func compact(v any) ([]byte, error)  { return encodeJSON(v, "") }

// encodeJSON returns indented JSON with a final newline, without HTML escapes.
func encodeJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	return b.Bytes(), err
}
