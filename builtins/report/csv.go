package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// CSV writes every trial as a row of a spreadsheet.
var CSV = component.New("csv",
	"One line for each trial, for spreadsheets. Texts that a spreadsheet would take for a formula (they begin with = + - or @) get a ' in front; texts over 32,000 characters are cut.",
	defaults, func(*config, Settings) (Format, error) { return csvFormat{}, nil })

type csvFormat struct{}

var _ Format = csvFormat{}

// csvHeads are the columns before those of the checks.
var csvHeads = []string{
	"case", "variant", "repeat", "line", "group", "tags", "outcome", "score", "error_kind", "error", "failed_checks",
	"status", "stop_reason", "latency_ms", "tokens", "cost_usd", "model_calls", "tool_calls", "run_id", "ended_at", "response",
}

// Write writes a header and the counted rows, in order.
func (csvFormat) Write(w io.Writer, r *report.Report, rows trial.Rows) error {
	out := csv.NewWriter(w)
	checks := checkNames(r)
	heads := append([]string(nil), csvHeads...)
	for _, name := range checks {
		heads = append(heads, sheetText("check: "+name))
	}
	if err := out.Write(heads); err != nil {
		return err
	}
	for row, err := range rows() {
		if err != nil {
			return err
		}
		if err := out.Write(append(csvCells(row), csvMarks(row, checks)...)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func csvCells(row *trial.Row) []string {
	var kind, message string
	if row.Fault != nil {
		kind, message = string(row.Fault.Kind), row.Fault.Message
	}
	run := &row.Run
	return []string{
		sheetText(row.Case), sheetText(row.Variant), strconv.Itoa(row.Repeat), strconv.Itoa(row.Line),
		sheetText(row.Group), sheetText(strings.Join(row.Tags, " ")), string(row.Outcome), number(row.Score),
		sheetText(kind), sheetText(message), sheetText(strings.Join(failedChecks(row), ", ")),
		sheetText(string(run.Status)), sheetText(string(run.StopReason.Code)), number(run.LatencyMS),
		strconv.Itoa(run.Tokens), number(run.Cost), strconv.Itoa(run.ModelCalls), strconv.Itoa(run.ToolCalls),
		sheetText(run.ID), row.At.UTC().Format(time.RFC3339), sheetText(run.Response),
	}
}

// csvMarks returns the score of each check, "" if the check did not mark the trial.
func csvMarks(row *trial.Row, checks []string) []string {
	out := make([]string, len(checks))
	for i, name := range checks {
		for _, m := range row.Marks {
			if m.Check == name && m.Error == "" {
				out[i] = number(m.Score)
			}
		}
	}
	return out
}

// failedChecks returns the names of the checks that made a trial fail.
func failedChecks(row *trial.Row) []string {
	var out []string
	for _, m := range row.Marks {
		if fails(&m) {
			out = append(out, m.Check)
		}
	}
	return out
}

// fails reports whether a mark makes its trial fail.
func fails(m *trial.Mark) bool { return !m.Pass && m.Error == "" && m.Weight != 0 }

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// maxCell is the maximum number of characters of a cell; spreadsheets allow 32,767.
const maxCell = 32000

// sheetText returns a text as a cell that no spreadsheet evaluates as a formula, even
// after it removes leading spaces.
func sheetText(s string) string {
	s = tty.Safe(s)
	if utf8.RuneCountInString(s) > maxCell {
		s = string([]rune(s)[:maxCell]) + "…"
	}
	if t := strings.TrimSpace(s); t != "" && strings.ContainsRune("=+-@＝＋－＠", first(t)) {
		return "'" + s
	}
	return s
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
