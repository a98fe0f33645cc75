package archtest

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLines is the maximum length of a file.
const maxLines = 400

// vague lists package names that do not describe their contents.
var vague = []string{"util", "utils", "common", "helper", "helpers", "type", "types", "misc", "shared", "lib", "base"}

// goTargets lists the suffixes of file names that make the go command build a file for one system only.
var goTargets = strings.Fields(`aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd
	plan9 solaris wasip1 windows zos 386 amd64 amd64p32 arm arm64 arm64be armbe loong64 mips mips64 mips64le
	mips64p32 mips64p32le mipsle ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm`)

// folders lists the top folders that may contain Go code.
var folders = []string{"engine", "dsl", "providers", "builtins", "eval", "server", "cmd", "internal"}

// samples is the folder that embeds the folders below it, which are data.
const samples = "specs"

// checkPackages checks each folder as a whole.
func checkPackages(_ Table, m *Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		if first, _, _ := strings.Cut(p.Folder, "/"); !slices.Contains(folders, first) && p.Folder != samples {
			out = append(out, Finding{p.Folder, "Go code belongs in " + strings.Join(folders, ", ") + "; data with Go files needs a go.mod of its own"})
			continue
		}
		for _, name := range p.names() {
			if slices.Contains(vague, name) {
				out = append(out, Finding{p.Folder, fmt.Sprintf("%q says nothing of what is inside: name the package after its subject", name)})
			}
		}
		if !p.hasDoc() {
			out = append(out, Finding{p.Folder, "has no doc.go with a package comment: what it is, how it flows, what it must not know"})
		}
	}
	return out
}

// names returns the folder's last element and its package names, without duplicates.
func (p *Package) names() []string {
	out := []string{path.Base(p.Folder)}
	for _, f := range p.Files {
		if name := strings.TrimSuffix(f.AST.Name.Name, "_test"); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (p *Package) hasDoc() bool {
	return slices.ContainsFunc(p.Files, func(f *File) bool { return f.Name == "doc.go" && f.AST.Doc != nil })
}

// checkFiles checks each file as a whole.
func checkFiles(_ Table, m *Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, message := range f.faults() {
				out = append(out, Finding{f.Path, message})
			}
		}
	}
	return out
}

func (f *File) faults() []string {
	var out []string
	if f.Lines > maxLines && !f.Generated {
		out = append(out, fmt.Sprintf("has %d lines: split it at %d, one subject a file", f.Lines, maxLines))
	}
	if word := f.target(); word != "" && !f.Tagged {
		out = append(out, fmt.Sprintf("builds for %s only, because of its name: rename it, or say so with a //go:build line", word))
	}
	for _, imp := range f.Imports {
		if imp.Name == "." {
			out = append(out, fmt.Sprintf("has a dot import of %s: name what you use", imp.Path))
		}
	}
	for _, d := range f.AST.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			out = append(out, "has an init function: build the value where it is needed, and list components in all.go")
		}
	}
	return out
}

// target returns the system selected by the file's name, or "".
func (f *File) target() string {
	stem := strings.TrimSuffix(strings.TrimSuffix(f.Name, ".go"), "_test")
	_, last, ok := cutLast(stem, "_")
	if ok && slices.Contains(goTargets, last) {
		return last
	}
	return ""
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// rowEach lists the top folders of which every subfolder needs a row in the table.
var rowEach = []string{"engine", "dsl", "providers"}

// CheckLayout compares the rows of the table with the existing folders, in both directions. It is separate from
// Check, which only reads code.
func CheckLayout(t Table, m *Module) []Finding {
	var out []Finding
	for _, folder := range t.Folders {
		if info, err := os.Stat(filepath.Join(m.Dir, filepath.FromSlash(folder))); err != nil || !info.IsDir() {
			out = append(out, Finding{folder, "has a row in docs/architecture.md, and there is no such folder: remove the row"})
		}
	}
	for _, p := range m.Packages {
		parts := strings.Split(p.Folder, "/")
		if len(parts) == 2 && slices.Contains(rowEach, parts[0]) && !slices.Contains(t.Folders, p.Folder) {
			out = append(out, Finding{p.Folder, "has no row in the table of docs/architecture.md: say there what it is"})
		}
	}
	return out
}
