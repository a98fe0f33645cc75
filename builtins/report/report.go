package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// Format writes the report of an evaluation.
type Format interface {
	// Write writes r to w. Formats that show single trials iterate over rows, which
	// contains the counted trials; others ignore rows.
	Write(w io.Writer, r *report.Report, rows trial.Rows) error
}

// Tests is implemented by a Format that can also write the results of tests.
type Tests interface {
	WriteTests(w io.Writer, r *report.TestReport) error
}

// Diffs is implemented by a Format that can also write the difference of two evaluations.
type Diffs interface {
	WriteDiff(w io.Writer, d *Diff) error
}

// Diff holds two evaluations, the later one compared with the earlier.
type Diff struct {
	Before     *report.Report     `json:"before"`
	After      *report.Report     `json:"after"`
	Comparison *report.Comparison `json:"comparison"` // nil = no common cases
}

// Settings are the settings of a format.
type Settings struct {
	Columns   int    // width of tables; 0 = 100
	Color     bool   // whether tables are colored
	Base      string // absolute folder that file names are relative to; "" = unchanged
	MaxBytes  int    // size limit of Markdown; 0 = 1 MiB, the limit of a step summary. Comments are limited to 65536
	Locations bool   // JUnit writes files, lines and properties of test cases as attributes; see JUnit
}

// Formats is the set of report formats.
type Formats = component.Set[Settings, Format]

// New returns the format with the given type.
func New(typ string, s Settings) (Format, error) {
	f, ok := All().Find(typ)
	if !ok {
		return nil, fmt.Errorf("unknown report format %q; the formats are %s", typ, strings.Join(All().Types(), ", "))
	}
	return f.Build(f.Config(), s)
}

// config is the Config of formats. It has no keys, because suites do not configure
// formats.
type config struct{}

func defaults() config { return config{} }

// file returns the file name for a report: relative to the base, with slashes.
func (s Settings) file(name string) string {
	if s.Base != "" && filepath.IsAbs(name) {
		if below, err := filepath.Rel(s.Base, name); err == nil && filepath.IsLocal(below) {
			name = below
		}
	}
	return filepath.ToSlash(name)
}

// at returns a position as file:line.
func (s Settings) at(name string, line int) string {
	switch {
	case name == "":
		return ""
	case line <= 0:
		return s.file(name)
	}
	return fmt.Sprintf("%s:%d", s.file(name), line)
}

// source returns the file that contains the cases of an evaluation.
func source(m *report.Manifest) string {
	if m.Dataset != "" {
		return m.Dataset
	}
	return m.File
}
