package archtest

import (
	"go/ast"
	"slices"
	"strings"
)

// commandFolder contains the commands, which must write through an outlet that escapes untrusted text.
const commandFolder = "cmd/pexctl"

// ownStreams lists the files that may use the streams of the process.
var ownStreams = []string{"main.go"}

// exactFiles lists the files that may write raw bytes to stdout, with the program that reads them.
var exactFiles = map[string]string{
	"runcmd/session.go":           "the answer of a run",
	"speccmd/lsp.go":              "the protocol of editors",
	"servecmd/mcp.go":             "the protocol of MCP hosts",
	"internal/outputs/outputs.go": "reports in formats of programs",
	"speccmd/format.go":           "the text of a spec",
	"runcmd/export.go":            "a cassette",
	"runcmd/show_page.go":         "an HTML page, in which invisible characters are spelled out",
	"storecmd/backup.go":          "a backup",
	"speccmd/list.go":             "the schema for editors",
	"completecmd/completion.go":   "the script of a shell",
	"speccmd/vet_formats.go":      "workflow commands of our own",
}

// checkOutput finds commands that bypass the outlet.
func checkOutput(_ Table, m *Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		if !covers(commandFolder, p.Folder) {
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			name := strings.TrimPrefix(f.Path, commandFolder+"/")
			ast.Inspect(f.AST, func(n ast.Node) bool {
				if wrong := writesPast(n, name); wrong != "" {
					out = append(out, Finding{m.Place(f, n), wrong})
				}
				return true
			})
		}
	}
	return out
}

// writesPast describes how a node bypasses the outlet, or returns "".
func writesPast(n ast.Node, file string) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		from, ok := n.X.(*ast.Ident)
		if !ok || slices.Contains(ownStreams, file) {
			return ""
		}
		name := from.Name + "." + n.Sel.Name
		if slices.Contains([]string{"os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println"}, name) {
			return name + " is not made safe: write to Call.Stdout or Call.Stderr"
		}
	case *ast.CallExpr:
		fn, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || exactFiles[file] != "" {
			return ""
		}
		if from, ok := fn.X.(*ast.Ident); ok && from.Name == "ui" && fn.Sel.Name == "Verbatim" {
			return "ui.Verbatim writes text of others as it is: write to the stream itself, or list the file with the reason in internal/archtest/output.go"
		}
	}
	return ""
}
