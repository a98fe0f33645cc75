package archtest

import (
	"go/ast"
	"go/token"
)

// startedWithPexctl are the folders whose package variables are initialized whenever pexctl starts.
var startedWithPexctl = []string{"engine", "dsl", "builtins", "providers", "eval", "specs", "cmd/pexctl", "internal/app", "internal/httpclient"}

// checkStartup finds regular expressions that are compiled when pexctl starts.
func checkStartup(_ Table, m *Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		for _, folder := range startedWithPexctl {
			if !covers(folder, p.Folder) {
				continue
			}
			for _, f := range p.Files {
				out = append(out, compiledAtStart(m, f)...)
			}
		}
	}
	return out
}

func compiledAtStart(m *Module, f *File) []Finding {
	var out []Finding
	for _, d := range f.AST.Decls {
		if g, ok := d.(*ast.GenDecl); f.Test || !ok || g.Tok != token.VAR {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "MustCompile" {
				if from, ok := sel.X.(*ast.Ident); ok && from.Name == "regexp" {
					out = append(out, Finding{m.Place(f, n), "regexp.MustCompile slows every start of pexctl: use text.Regexp of engine/text, which compiles on first use"})
				}
			}
			_, isFunc := n.(*ast.FuncLit)
			return !isFunc
		})
	}
	return out
}
