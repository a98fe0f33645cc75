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
	// Write writes r to w. Formats that show single trials range over rows, which
	// are those that count; others ignore them.
	Write(w io.Writer, r *report.Report, rows trial.Rows) error
}

// Tests is a capability of a Format: it also writes what tests came to.
type Tests interface {
	WriteTests(w io.Writer, r *report.TestReport) error
}

// Diffs is a capability of a Format: it also writes how two evaluations differ.
type Diffs interface {
	WriteDiff(w io.Writer, d *Diff) error
}

// Diff is two evaluations, the later compared with the earlier.
type Diff struct {
	Before     *report.Report     `json:"before"`
	After      *report.Report     `json:"after"`
	Comparison *report.Comparison `json:"comparison"` // nil = they share no case
}

// Settings is what our code passes to a format.
type Settings struct {
	Columns   int    // where the lines of a table are cut; 0 = 100
	Color     bool   // of a table
	Base      string // absolute folder that files are named from; "" = as they stand
	MaxBytes  int    // that Markdown may have; 0 = what a step summary takes, 1 MiB. A comment takes 65536
	Locations bool   // JUnit says files, lines and properties of test cases in attributes; see JUnit
}

// Formats are the kinds of reports.
type Formats = component.Set[Settings, Format]

// New makes a format by its type.
func New(typ string, s Settings) (Format, error) {
	f, ok := All().Find(typ)
	if !ok {
		return nil, fmt.Errorf("there is no report format %q; there are %s", typ, strings.Join(All().Types(), ", "))
	}
	return f.Build(f.Config(), s)
}

// config is the Config of formats: suites do not name them, so they have no keys.
type config struct{}

func defaults() config { return config{} }

// file names a file as a report does: from the base, with slashes.
func (s Settings) file(name string) string {
	if s.Base != "" && filepath.IsAbs(name) {
		if below, err := filepath.Rel(s.Base, name); err == nil && filepath.IsLocal(below) {
			name = below
		}
	}
	return filepath.ToSlash(name)
}

// at is a place in a file: file:line.
func (s Settings) at(name string, line int) string {
	switch {
	case name == "":
		return ""
	case line <= 0:
		return s.file(name)
	}
	return fmt.Sprintf("%s:%d", s.file(name), line)
}

// source is the file that the cases of an evaluation stand in.
func source(m *report.Manifest) string {
	if m.Dataset != "" {
		return m.Dataset
	}
	return m.File
}
