package outputs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	formats "github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// reportFormats are the formats with their own flag, in the order of --help: all
// except those for a terminal and GitHub Actions.
var reportFormats = slices.DeleteFunc(formats.All().Types(), func(format string) bool {
	return format == "table" || format == "github"
})

// formatNames are the names of report formats in help, each with its article.
var formatNames = map[string]string{"json": "a JSON", "jsonl": "a JSON Lines", "csv": "a CSV", "markdown": "a Markdown", "junit": "a JUnit XML", "html": "an HTML"}

// ReportFlags returns the flags that write a report to a file, one for each
// format; without formats, for all.
func ReportFlags(formats ...string) []cli.Flag {
	if len(formats) == 0 {
		formats = reportFormats
	}
	var out []cli.Flag
	for _, f := range formats {
		out = append(out, &cli.StringFlag{Name: f, Category: ui.GroupReports, Usage: "Also write the report to " + formatNames[f] + " `FILE`"})
	}
	return append(out, &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: ui.GroupOutput, Usage: "Print no progress on stderr"})
}

// Outputs are the destinations of reports: stdout, files, and CI.
type Outputs struct {
	c      *ui.Call
	format string            // of stdout
	JSON   bool              // format is json
	Files  map[string]string // paths by format
}

// Open checks that every file can be written, before anything runs. Stdout gets
// text or JSON, or one of the formats in further.
func Open(c *ui.Call) (*Outputs, error) {
	o := &Outputs{c: c, format: c.Format, JSON: c.JSON, Files: map[string]string{}}
	for _, format := range reportFormats {
		path := c.String(format)
		if path == "" {
			continue
		}
		if path == "-" {
			return nil, failure.Usagef("--%s needs a file; to write JSON to stdout, use -o json", format)
		}
		for _, other := range reportFormats {
			if earlier := o.Files[other]; earlier != "" && filepath.Clean(earlier) == filepath.Clean(path) {
				return nil, failure.Usagef("--%s and --%s both write %s", other, format, path)
			}
		}
		if err := writable(path); err != nil {
			return nil, failure.Usagef("--%s %s: %w", format, path, err)
		}
		o.Files[format] = path
	}
	return o, nil
}

// writable returns an error if no file can be written to a path.
func writable(path string) error {
	dir := filepath.Dir(path)
	if !fspath.Exists(dir) {
		return fmt.Errorf("folder %s does not exist", dir)
	}
	if at, err := os.Stat(path); err == nil && at.IsDir() {
		return errors.New("is a folder")
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("cannot write to %s: %w", dir, errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// settings returns those for formats in files or on the terminal.
func (o *Outputs) settings() formats.Settings {
	here, err := os.Getwd()
	if err != nil {
		here = ""
	}
	return formats.Settings{Base: here, Columns: ui.Columns(o.c.Stdout), Color: ui.UsesColor(o.c.Stdout)}
}

// Eval writes the report of an evaluation to all destinations.
func (o *Outputs) Eval(r *report.Report, rows trial.Rows) error {
	return o.write(func(f formats.Format, w io.Writer) error { return f.Write(w, r, rows) })
}

// Diff writes the comparison of two evaluations to all destinations.
func (o *Outputs) Diff(d *formats.Diff) error {
	return o.write(func(f formats.Format, w io.Writer) error {
		if f, ok := f.(formats.Diffs); ok {
			return f.WriteDiff(w, d)
		}
		return nil // annotations do not include it
	})
}

// Tests writes the results of tests to all destinations except stdout.
func (o *Outputs) Tests(r *report.TestReport) error {
	return o.toFiles(func(f formats.Format, w io.Writer) error { return f.(formats.Tests).WriteTests(w, r) })
}

// write writes one report in every requested format. An error in one does not
// stop the others.
func (o *Outputs) write(write func(formats.Format, io.Writer) error) error {
	failed := o.toFiles(write)
	format, set := o.format, o.settings()
	switch format {
	case "text":
		format = "table"
	case "markdown":
		set = fileSettings(set, format)
	}
	return errors.Join(failed, o.one(format, set, o.c.Stdout, write))
}

func (o *Outputs) toFiles(write func(formats.Format, io.Writer) error) error {
	var failed []error
	for _, format := range reportFormats {
		if path := o.Files[format]; path != "" {
			set := fileSettings(o.settings(), format)
			err := fspath.WriteFile(path, 0o600, func(w io.Writer) error { return o.one(format, set, w, write) })
			if err != nil {
				failed = append(failed, fmt.Errorf("--%s: %w", format, err))
			}
		}
	}
	if err := errors.Join(append(failed, o.actions(write))...); err != nil {
		return failure.Infra(err)
	}
	return nil
}

// commentBytes is the maximum size of a GitHub comment, which Markdown files are
// made for.
const commentBytes = 65536

// fileSettings returns those for a format in a file. JUnit attributes get places,
// which some services read although the schema does not have them.
func fileSettings(set formats.Settings, format string) formats.Settings {
	set.Color, set.Columns = false, 0
	if format == "markdown" {
		set.MaxBytes = commentBytes
	}
	set.Locations = os.Getenv("GITHUB_ACTIONS") == "true" || os.Getenv("GITLAB_CI") == "true"
	return set
}

func (o *Outputs) one(format string, set formats.Settings, w io.Writer, write func(formats.Format, io.Writer) error) error {
	f, err := formats.New(format, set)
	if err != nil {
		return err
	}
	switch format {
	case "json", "junit", "csv", "html", "github":
		return write(f, ui.Verbatim(w))
	}
	return write(f, ui.Styled(w))
}

// actions writes annotations to the log of GitHub Actions, which is stderr, and
// the summary of the step.
func (o *Outputs) actions(write func(formats.Format, io.Writer) error) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	set := formats.Settings{Base: os.Getenv("GITHUB_WORKSPACE")}
	if err := o.one("github", set, o.c.Stderr, write); err != nil {
		return err
	}
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
	}
	if err := o.one("markdown", set, f, write); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
