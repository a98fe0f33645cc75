package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// componentVar is a package variable initialized by component.New.
type componentVar struct {
	name string // of the variable
	typ  string // the type in YAML, if it is a literal
	at   *ast.Ident
}

const componentFolder = "engine/component"

// checkListed checks each folder with an all.go: one component per file, the file named after the type, and all of
// them listed.
func checkListed(_ Table, m *Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		all := p.file("all.go")
		if all == nil {
			continue
		}
		listed := namesIn(all.AST)
		for _, f := range p.Files {
			if !f.Test {
				out = append(out, m.checkComponentFile(f, listed)...)
			}
		}
	}
	return out
}

func (m *Module) checkComponentFile(f *File, listed map[string]bool) []Finding {
	var out []Finding
	found := m.components(f)
	for i, c := range found {
		at := m.Place(f, c.at)
		if i > 0 {
			out = append(out, Finding{at, fmt.Sprintf("%s is a second component in one file: give it a file of its own", c.name)})
		}
		if stem := strings.TrimSuffix(f.Name, ".go"); i == 0 && c.typ != "" && c.typ != stem {
			out = append(out, Finding{at, fmt.Sprintf("component %q belongs in %s.go: the file is named after the type", c.typ, c.typ)})
		}
		if want := strings.ReplaceAll(c.typ, "_", ""); c.typ != "" && !strings.EqualFold(c.name, want) {
			out = append(out, Finding{at, fmt.Sprintf("component %q is held by %s: the variable is named after the type", c.typ, c.name)})
		}
		if !listed[c.name] {
			out = append(out, Finding{at, fmt.Sprintf("%s is missing in %s: specs cannot name it", c.name, path.Join(path.Dir(f.Path), "all.go"))})
		}
	}
	return out
}

// checkCatalog requires every component of providers in cmd/pexctl/catalog.go.
func checkCatalog(_ Table, m *Module) []Finding {
	const catalog = "cmd/pexctl/catalog.go"
	used := map[string]bool{} // "providers/openai.OpenAI"
	there := false
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if f.Path == catalog {
				there = true
				m.selected(f, used)
			}
		}
	}
	if !there {
		return nil
	}
	var out []Finding
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if f.Test || !covers("providers", p.Folder) {
				continue
			}
			for _, c := range m.components(f) {
				if !used[p.Folder+"."+c.name] {
					out = append(out, Finding{m.Place(f, c.at), fmt.Sprintf("%s is missing in %s: specs cannot name it", c.name, catalog)})
				}
			}
		}
	}
	return out
}

// selected collects the names that a file uses from other packages of the module.
func (m *Module) selected(f *File, used map[string]bool) {
	folderByName := map[string]string{}
	for _, imp := range f.Imports {
		folder, ok := m.folderOf(imp.Path)
		if !ok {
			continue
		}
		name := imp.Name
		if name == "" {
			name = path.Base(folder)
		}
		folderByName[name] = folder
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && folderByName[x.Name] != "" {
				used[folderByName[x.Name]+"."+sel.Sel.Name] = true
			}
		}
		return true
	})
}

// components returns the variables of a file that are initialized by component.New.
func (m *Module) components(f *File) []componentVar {
	name := ""
	for _, imp := range f.Imports {
		if folder, ok := m.folderOf(imp.Path); ok && folder == componentFolder {
			if name = imp.Name; name == "" {
				name = path.Base(componentFolder)
			}
		}
	}
	if name == "" {
		return nil
	}
	var out []componentVar
	for _, d := range f.AST.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.VAR {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.ValueSpec)
			for i, value := range spec.Values {
				if typ, ok := componentCall(value, name); ok && i < len(spec.Names) {
					out = append(out, componentVar{name: spec.Names[i].Name, typ: typ, at: spec.Names[i]})
				}
			}
		}
	}
	return out
}

// componentCall finds component.New(...) in an initial value, including below .Preview() or with type arguments, and
// returns its type.
func componentCall(value ast.Expr, pkg string) (typ string, ok bool) {
	ast.Inspect(value, func(n ast.Node) bool {
		if _, isFunc := n.(*ast.FuncLit); isFunc || ok {
			return false
		}
		call, isCall := n.(*ast.CallExpr)
		if !isCall || !isNew(call.Fun, pkg) {
			return true
		}
		ok = true
		if len(call.Args) > 0 {
			if lit, isLit := call.Args[0].(*ast.BasicLit); isLit {
				typ, _ = strconv.Unquote(lit.Value)
			}
		}
		return false
	})
	return typ, ok
}

func isNew(fun ast.Expr, pkg string) bool {
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "New" {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg
}

func (p *Package) file(name string) *File {
	for _, f := range p.Files {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// namesIn returns all identifiers in a file.
func namesIn(f *ast.File) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			out[id.Name] = true
		}
		return true
	})
	return out
}
