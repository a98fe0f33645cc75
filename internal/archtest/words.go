package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// outside lists words that must not be part of any name in engine.
var outside = []string{"yaml", "http", "badger", "openai", "langchain", "anthropic", "bedrock", "ollama"}

// outsidePackages lists packages of the standard library related to such words.
var outsidePackages = []string{"net", "net/http", "flag", "database/sql"}

// checkWords checks the names in engine. Comments and strings may use the words.
func checkWords(_ Table, m *Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		if !covers("engine", p.Folder) || isSupport(p.Folder) {
			continue
		}
		for _, f := range p.Files {
			if !f.Test {
				out = append(out, m.foreignWords(f)...)
			}
		}
	}
	return out
}

func (m *Module) foreignWords(f *File) []Finding {
	var out []Finding
	for _, imp := range f.Imports {
		if slices.Contains(outsidePackages, imp.Path) {
			out = append(out, Finding{fmt.Sprintf("%s:%d", f.Path, imp.Line), fmt.Sprintf("engine must not import %s: put it behind a seam", imp.Path)})
		}
	}
	seen := map[string]bool{}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || seen[id.Name] {
			return true
		}
		if word := foreignWord(id.Name); word != "" {
			seen[id.Name] = true
			out = append(out, Finding{m.Place(f, id), fmt.Sprintf("engine must not know the word %q (in %s): name the idea, not the thing outside", word, id.Name)})
		}
		return true
	})
	return out
}

func foreignWord(name string) string {
	lower := strings.ToLower(name)
	for _, w := range outside {
		if strings.Contains(lower, w) {
			return w
		}
	}
	if lower == "flag" || lower == "flags" {
		return lower
	}
	return ""
}
