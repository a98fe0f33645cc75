package initcmd

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/analysis"
	"github.com/pexctl/pex/dsl/convert"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// extraFiles is a flag with further files.
type extraFiles struct {
	paths   []string
	folders bool   // a path may be the folder of a project
	agent   string // the id of an agent without one; "" if the files are not agents
}

// importFrom converts a file and its further files, writes the result and vets
// it.
func importFrom(c *call, f *format) error {
	if c.Arg(0) == "" {
		return failure.WithHintf(failure.Usagef("no file given"), "use pexctl import %s %s", f.name, f.args)
	}
	if !f.many {
		if err := c.AtMost(1); err != nil {
			return err
		}
	}
	sources, err := foreignFiles(c, []extraFiles{
		{paths: c.Args, folders: f.folders},
		{paths: c.with, folders: f.folders},
		{paths: c.connector},
		{paths: c.agent, agent: "*"},
	})
	if err != nil {
		return err
	}
	sources[0].As = c.name
	made, err := f.convert(sources[0], sources[1:]...)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	dir := c.out
	if dir == "" {
		base := filepath.Base(sources[0].Name)
		dir = defaultFolder(folderName(cmp.Or(made.Name, sources[0].As, strings.TrimSuffix(base, filepath.Ext(base)))), c.Arg(0))
	}
	paths, err := writeImport(dir, made.Files, c.force)
	if err != nil {
		return err
	}
	return printImport(c, &importResult{dir, paths, made.Notes, vetImport(c, paths)}, c.JSON)
}

// vetImport returns the diagnostics of the written files.
func vetImport(c *call, paths []string) (all diag.List) {
	o := project.SpecOptions(c.Call)
	o.Analyzers = analysis.All()
	for _, path := range paths {
		if strings.HasSuffix(path, ".yaml") {
			_, found := dsl.Vet(path, o)
			all = append(all, found...)
		}
	}
	return slices.Compact(all.Sort())
}

// foreignFiles reads files to convert.
func foreignFiles(c *call, all []extraFiles) (out []convert.Input, err error) {
	for _, m := range all {
		for _, path := range m.paths {
			id := m.agent
			if before, after, ok := strings.Cut(path, "="); ok && id != "" {
				id, path = before, after
			}
			if id != "" && id != "*" && slices.ContainsFunc(out, func(in convert.Input) bool { return in.Agent == id }) {
				return nil, failure.Usagef("duplicate --agent %s", id)
			}
			if m.folders && path != ui.FromStdin && isFolder(path) {
				files, err := projectFiles(c, path)
				if err != nil {
					return nil, err
				}
				out = append(out, files...)
				continue
			}
			in, err := foreignFile(c, path)
			if err != nil {
				return nil, err
			}
			in.Agent = id
			out = append(out, in)
		}
	}
	return out, nil
}

// foreignFile reads a file to convert; - is stdin.
func foreignFile(c *call, path string) (convert.Input, error) {
	b, err := ui.ReadInput(c.Call, "", path, ui.MaxImport)
	if path == ui.FromStdin {
		path = "stdin"
	}
	in := convert.Input{Name: filepath.ToSlash(path), Text: b}
	if path != "stdin" {
		in.Open = readBeside(filepath.Dir(path))
	}
	return in, err
}

// readBeside returns a function that reads files of a folder and its subfolders.
func readBeside(dir string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		f, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > convert.MaxFile {
			return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", name, convert.MaxFile)
		}
		return io.ReadAll(f)
	}
}

// folderName converts an agent's name to the name of a folder.
func folderName(name string) string {
	s := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return ' '
	}, name)
	s = strings.Join(strings.Fields(s), "-")
	if s = strings.Trim(s[:min(len(s), 60)], "-"); s == "" {
		return "imported-agent"
	}
	return s
}

// invalidResult explains why a converted file is not valid: its source exceeds a limit
// of specs, or the converter has a bug.
func invalidResult(path string, found diag.List) error {
	wrong := found[slices.IndexFunc(found, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })]
	if wrong.Code == diag.TooLarge {
		return failure.Usagef("%s exceeds the limits of a spec: %s; nothing was written; remove what the agent does not need from the source, or split it into several agents", path, wrong.Message)
	}
	return failure.Infra(fmt.Errorf("%s: the result is not valid YAML: %s", path, wrong.Message))
}

// writeImport writes the files atomically, with formatted YAML. If a file exists,
// or exceeds the limits of a spec, it returns an error and writes nothing.
func writeImport(dir string, files []convert.File, force bool) (paths []string, err error) {
	for i, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if _, err := os.Lstat(path); err == nil && !force {
			return nil, failure.Usagef("%s already exists; use another folder with --out, or --force to overwrite", path)
		}
		paths = append(paths, path)
		if strings.HasSuffix(f.Path, ".yaml") {
			var found diag.List
			if files[i].Text, found = dsl.Format(f.Text); found.Failed() {
				return nil, invalidResult(f.Path, found)
			}
		}
	}
	for i, f := range files {
		if err := os.MkdirAll(filepath.Dir(paths[i]), 0o755); err != nil {
			return nil, failure.Usagef("%w", err)
		}
		if err := fspath.WriteFile(paths[i], 0o644, func(w io.Writer) error { _, err := w.Write(f.Text); return err }); err != nil {
			return nil, failure.Infra(err)
		}
	}
	return paths, nil
}
