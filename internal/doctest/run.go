package doctest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// pageRun executes one page.
type pageRun struct {
	*shell
	page  Page
	specs []string // specs, suites and similar files that the page has written
	lines []string // the updated page
	added int      // number of lines added to the page so far
}

// RunPage executes a page and returns its updated text. Other failures are reported with the line of their block.
func (h Runner) RunPage(t *testing.T, page Page) string {
	t.Helper()
	w := &pageRun{shell: newShell(t, h), page: page, lines: append([]string(nil), page.lines...)}
	defer w.stopServer()
	for _, b := range page.Blocks {
		w.block(b)
	}
	for _, path := range w.specs {
		w.vet(path, page.Name+": at its end")
	}
	return strings.Join(w.lines, "\n")
}

func (w *pageRun) errorf(b Block, format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("%s:%d: "+format, append([]any{w.page.Name, b.Line}, args...)...)
}

func (w *pageRun) block(b Block) {
	w.t.Helper()
	switch b.Lang {
	case "with":
		w.with(b)
	case "run":
		w.script(b)
	case "sh":
		if b.File != "" {
			w.file(b)
		} else if b.NotRun() == "" {
			w.script(b)
		}
	case "console":
		if b.NotRun() == "" {
			w.console(b)
		}
	case "diff":
		w.patch(b)
	case "yaml":
		w.yaml(b)
	case "json":
		if b.NotRun() == "" && !json.Valid([]byte(b.Body)) {
			w.errorf(b, "invalid JSON")
		}
		w.file(b)
	default:
		w.file(b)
	}
}

// with copies files and folders from the repository to the same path.
func (w *pageRun) with(b Block) {
	w.t.Helper()
	for name := range strings.FieldsSeq(b.Body) {
		from, to, ok := strings.Cut(name, "=")
		if !ok {
			to = from
		}
		if err := copyPath(filepath.Join(w.runner.Root, filepath.FromSlash(from)), w.path(to)); err != nil {
			w.errorf(b, "%v", err)
		}
	}
}

func copyPath(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode())
}

// script runs commands that must succeed. Their output is ignored.
func (w *pageRun) script(b Block) {
	w.t.Helper()
	if out, code := w.run("set -e\n" + b.Body); code != 0 {
		w.errorf(b, "exit %d: %s\n%s", code, strings.TrimSpace(b.Body), out)
	}
}

// file writes the file that a block contains, if any.
func (w *pageRun) file(b Block) {
	w.t.Helper()
	if b.File == "" || b.NotRun() != "" {
		return
	}
	path := w.path(b.File)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.errorf(b, "%v", err)
	}
	if err := os.WriteFile(path, []byte(w.local(b.Body)), 0o644); err != nil {
		w.errorf(b, "%v", err)
	}
}

func (w *pageRun) patch(b Block) {
	w.t.Helper()
	if b.File == "" {
		w.errorf(b, "a diff names its file in its first line: --- spec.yaml")
		return
	}
	text, err := os.ReadFile(w.path(b.File))
	if err != nil {
		w.errorf(b, "%v", err)
		return
	}
	next, err := Patch(string(text), b.Body)
	if err != nil {
		w.errorf(b, "%s: %v", b.File, err)
		return
	}
	if err := os.WriteFile(w.path(b.File), []byte(next), 0o644); err != nil {
		w.errorf(b, "%v", err)
	}
}

// yaml handles a file, a complete spec without a name, or a part of a spec.
func (w *pageRun) yaml(b Block) {
	w.t.Helper()
	var any yaml.Node
	if err := yaml.Unmarshal([]byte(b.Body), &any); err != nil {
		w.errorf(b, "invalid YAML: %v", err)
		return
	}
	whole := isComplete(b.Body)
	switch {
	case b.NotRun() != "":
	case b.File != "":
		w.file(b)
		if whole {
			w.specs = append(w.specs, w.path(b.File))
		}
	case whole:
		w.unnamed(b, "unnamed.yaml", b.Body)
	default:
		w.part(b)
	}
}

// part checks a part of a spec, merged into a complete one.
func (w *pageRun) part(b Block) {
	w.t.Helper()
	whole, name := minimalSpec, "unnamed.yaml"
	if over := b.Markers["over"]; over != "" {
		text, err := os.ReadFile(w.path(over))
		if err != nil {
			w.errorf(b, "%v", err)
			return
		}
		whole, name = string(text), filepath.Join(filepath.Dir(over), name)
	}
	text, err := Overlay(whole, b.Body)
	if err != nil {
		w.errorf(b, "%v", err)
		return
	}
	w.unnamed(b, name, text)
}

// unnamed vets a text that is not a file of the page.
func (w *pageRun) unnamed(b Block, name, text string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.errorf(b, "%v", err)
		return
	}
	if out, code := w.run("pexctl vet " + shellQuote(path)); code != 0 {
		w.errorf(b, "%s\n%s", out, text)
	}
	if err := os.Remove(path); err != nil {
		w.errorf(b, "%v", err)
	}
}

// vet requires that a file has no errors.
func (w *pageRun) vet(path, where string) {
	w.t.Helper()
	if out, code := w.run("pexctl vet " + shellQuote(path)); code != 0 {
		w.t.Errorf("%s: %s", where, out)
	}
}
