package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// nodeFolder contains the code that is executed again when a run resumes.
const nodeFolder = "builtins/node"

// impure lists the names that node code must not use, by package; nil means the whole package.
var impure = map[string][]string{
	"time":         {"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"},
	"context":      {"WithTimeout", "WithTimeoutCause", "WithDeadline", "WithDeadlineCause", "AfterFunc"},
	"sync":         {"Mutex", "RWMutex", "Cond", "WaitGroup", "Map"},
	"sync/atomic":  nil,
	"math/rand":    nil,
	"math/rand/v2": nil,
	"crypto/rand":  nil,
	"os":           nil,
	"os/exec":      nil,
	"syscall":      nil,
	"net":          nil,
	"net/http":     nil,
}

// checkPure checks that node code is deterministic between effects: no clock, randomness, goroutines, channels,
// locks, recover, I/O or map order.
func checkPure(m *Module) ([]Finding, error) {
	var out []Finding
	for _, p := range m.Packages {
		if !covers(nodeFolder, p.Folder) {
			continue
		}
		info, err := m.typesOf(p)
		if err != nil {
			return nil, err
		}
		for _, f := range p.Files {
			switch {
			case f.Test:
			case f.Tagged:
				out = append(out, Finding{f.Path, "node code must not have a build tag: every machine runs the same"})
			default:
				w := purity{module: m, file: f, info: info, sorted: map[ast.Node]bool{}}
				ast.Inspect(f.AST, w.visit)
				out = append(out, w.found...)
			}
		}
	}
	return out, nil
}

// purity checks one file.
type purity struct {
	module *Module
	file   *File
	info   *types.Info
	sorted map[ast.Node]bool // calls whose order is fixed by an enclosing slices.Sorted
	found  []Finding
}

func (w *purity) report(n ast.Node, what, instead string) {
	w.found = append(w.found, Finding{w.module.Place(w.file, n), fmt.Sprintf("node code must not use %s: %s", what, instead)})
}

func (w *purity) visit(n ast.Node) bool {
	switch x := n.(type) {
	case *ast.GoStmt:
		w.report(x, "the go statement", "use Scope.Parallel")
	case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
		w.report(x, "channels", "branches of Scope.Parallel share variables, since one runs at a time")
	case *ast.UnaryExpr:
		if x.Op == token.ARROW {
			w.report(x, "channels", "use Scope.Await")
		}
	case *ast.RangeStmt:
		if t := w.info.TypeOf(x.X); t != nil {
			if _, isMap := t.Underlying().(*types.Map); isMap {
				w.report(x, "the order of a map", "range over slices.Sorted(maps.Keys(m))")
			}
		}
	case *ast.CallExpr:
		w.call(x)
	case *ast.SelectorExpr:
		w.selector(x)
	}
	return true
}

func (w *purity) call(x *ast.CallExpr) {
	if id, ok := x.Fun.(*ast.Ident); ok {
		if b, ok := w.info.Uses[id].(*types.Builtin); ok && b.Name() == "recover" {
			w.report(x, "recover", "the kernel reports a panic with its stack")
		}
	}
	if pkg, name := w.named(x.Fun); pkg == "slices" && slices.Contains([]string{"Sorted", "SortedFunc", "SortedStableFunc"}, name) && len(x.Args) > 0 {
		if inner, ok := x.Args[0].(*ast.CallExpr); ok {
			w.sorted[inner.Fun] = true
		}
	}
}

func (w *purity) selector(x *ast.SelectorExpr) {
	pkg, name := w.named(x)
	if pkg == "maps" && slices.Contains([]string{"Keys", "Values", "All"}, name) && !w.sorted[x] {
		w.report(x, "the order of a map", "put slices.Sorted around maps."+name)
	}
	if names, ok := impure[pkg]; ok && (names == nil || slices.Contains(names, name)) {
		w.report(x, pkg+"."+name, "time, chance, ids and I/O come from the Scope")
	}
}

// named resolves an expression to a package-level name, whatever the local name of the package.
func (w *purity) named(e ast.Expr) (pkg, name string) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	p, ok := w.info.Uses[x].(*types.PkgName)
	if !ok {
		return "", ""
	}
	return p.Imported().Path(), sel.Sel.Name
}
