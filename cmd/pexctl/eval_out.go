package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/eval/fold"
	"github.com/pexctl/pex/eval/trial"
)

// reportFormats are the formats that have a flag of their own, in the order of
// --help.
var reportFormats = []string{"json", "jsonl", "csv", "markdown", "junit", "html"}

func reportFlags(formats ...string) []cli.Flag {
	if len(formats) == 0 {
		formats = reportFormats
	}
	var out []cli.Flag
	for _, f := range formats {
		out = append(out, &cli.StringFlag{Name: f, Usage: "also write the report to a `FILE` of this format"})
	}
	return append(out, &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress on stderr"})
}

// outputs is where reports go: stdout, files, and what CI reads.
type outputs struct {
	c     *cli.Context
	json  bool
	files map[string]string // path by format
}

// openOutputs checks that every file can be written, before anything is run.
func openOutputs(c *cli.Context) (*outputs, error) {
	wantJSON, err := asJSON(c)
	if err != nil {
		return nil, err
	}
	o := &outputs{c: c, json: wantJSON, files: map[string]string{}}
	for _, format := range reportFormats {
		path := c.String(format)
		if path == "" {
			continue
		}
		if path == "-" {
			return nil, usage("--%s -: name a file; -o json writes JSON to stdout", format)
		}
		if dir := filepath.Dir(path); !exists(dir) {
			return nil, usage("--%s %s: there is no folder %s", format, path, dir)
		}
		o.files[format] = path
	}
	return o, nil
}

// settings are those of formats that go to a file, or to the terminal.
func (o *outputs) settings() report.Settings {
	here, err := os.Getwd()
	if err != nil {
		here = ""
	}
	return report.Settings{Base: here, Columns: columnsOf(o.c.App.Writer), Color: inColor(o.c.App.Writer)}
}

// eval writes the report of an evaluation wherever it is wanted.
func (o *outputs) eval(r *fold.Report, rows trial.Rows) error {
	return o.write(func(f report.Format, w io.Writer) error { return f.Write(w, r, rows) })
}

// diff writes how two evaluations differ.
func (o *outputs) diff(d *report.Diff) error {
	return o.write(func(f report.Format, w io.Writer) error {
		if f, ok := f.(report.Diffs); ok {
			return f.WriteDiff(w, d)
		}
		return nil // annotations say nothing of it
	})
}

// tests writes what tests came to wherever it is wanted, but for stdout.
func (o *outputs) tests(r *fold.TestReport) error {
	return o.toFiles(func(f report.Format, w io.Writer) error { return f.(report.Tests).WriteTests(w, r) })
}

// write writes one thing in every format that is wanted.
func (o *outputs) write(write func(report.Format, io.Writer) error) error {
	if err := o.toFiles(write); err != nil {
		return err
	}
	format := "table"
	if o.json {
		format = "json"
	}
	return o.one(format, o.settings(), o.c.App.Writer, write)
}

func (o *outputs) toFiles(write func(report.Format, io.Writer) error) error {
	for _, format := range reportFormats {
		if path := o.files[format]; path != "" {
			set := fileSettings(o.settings(), format)
			err := writeFile(path, func(w *os.File) error { return o.one(format, set, w, write) })
			if err != nil {
				return infra(fmt.Errorf("--%s: %w", format, err))
			}
		}
	}
	return o.actions(write)
}

// commentBytes is what GitHub takes as a comment: Markdown files are made for
// one.
const commentBytes = 65536

// fileSettings are those of a format that goes to a file. Services that look
// for places in attributes of JUnit get them, though its schema has none.
func fileSettings(set report.Settings, format string) report.Settings {
	set.Color, set.Columns = false, 0
	if format == "markdown" {
		set.MaxBytes = commentBytes
	}
	set.Locations = os.Getenv("GITHUB_ACTIONS") == "true" || os.Getenv("GITLAB_CI") == "true"
	return set
}

func (o *outputs) one(format string, set report.Settings, w io.Writer, write func(report.Format, io.Writer) error) error {
	f, err := report.New(format, set)
	if err != nil {
		return err
	}
	return write(f, w)
}

// actions tells GitHub Actions, where it runs: annotations in the log, which
// stderr is, and the summary of the step.
func (o *outputs) actions(write func(report.Format, io.Writer) error) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	set := report.Settings{Base: os.Getenv("GITHUB_WORKSPACE")}
	if err := o.one("github", set, o.c.App.ErrWriter, write); err != nil {
		return infra(err)
	}
	path := os.Getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return infra(fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err))
	}
	if err := o.one("markdown", set, f, write); err != nil {
		_ = f.Close()
		return infra(err)
	}
	return f.Close()
}

// writeFile puts a file in its place when it is whole.
func writeFile(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone once it is renamed
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// note tells something on stderr, unless -q asks for silence.
func note(c *cli.Context, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, format+"\n", args...)
	}
}
