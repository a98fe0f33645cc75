package archtest

import (
	"fmt"
	"strings"
)

// wired lists the groups that only cmd/pexctl may import.
var wired = map[string]bool{"builtins": true, "providers": true}

// top returns the group of a folder: its first part, or the first two below cmd and internal, whose folders are
// unrelated.
func top(folder string) string {
	parts := strings.SplitN(folder, "/", 3)
	if len(parts) > 1 && (parts[0] == "cmd" || parts[0] == "internal") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// checkArrows compares the imports within the module with the allowed ones.
func checkArrows(t Table, m *Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, imp := range f.Imports {
				to, ok := m.folderOf(imp.Path)
				if !ok {
					continue
				}
				if why := t.refuses(p.Folder, to, f.Test); why != "" {
					out = append(out, Finding{fmt.Sprintf("%s:%d", f.Path, imp.Line), why})
				}
			}
		}
	}
	return out
}

// refuses returns why an import is forbidden, or "".
func (t Table) refuses(from, to string, test bool) string {
	if from == to {
		return "" // an external test of its own package
	}
	if test || isSupport(from) {
		if strings.HasPrefix(to, "internal/") && top(from) != "engine" {
			return ""
		}
	} else if isSupport(to) {
		return fmt.Sprintf("%s imports %s, which is for tests only", from, to)
	}
	if !test && t.Denies(from, to) {
		return fmt.Sprintf("%s must not import %s: docs/architecture.md denies it", from, to)
	}
	if t.Allows(from, to) {
		return ""
	}
	if top(from) == top(to) {
		return refusesInside(from, to, test)
	}
	if t.isHousekeeping(from) {
		return ""
	}
	return fmt.Sprintf("%s must not import %s: docs/architecture.md has no such arrow", from, to)
}

// refusesInside returns why an import within one group is forbidden, or "".
func refusesInside(from, to string, test bool) string {
	switch {
	case wired[top(from)] && !covers(from, to):
		return fmt.Sprintf("%s must not import %s: components do not know each other; only cmd/pexctl puts them together", from, to)
	case covers(to, from) && !test:
		return fmt.Sprintf("%s points back up to %s: move what both need into a folder below", from, to)
	}
	return ""
}

// isHousekeeping reports whether a folder is a maintenance tool: below internal, and imported by no other folder.
func (t Table) isHousekeeping(folder string) bool {
	if !strings.HasPrefix(folder, "internal/") {
		return false
	}
	for _, a := range t.Arrows {
		if covers(a.From, folder) {
			return false
		}
		for _, to := range a.To {
			if covers(to, folder) {
				return false
			}
		}
	}
	return true
}

// checkDoors compares the imports of libraries with the table.
func checkDoors(t Table, m *Module) []Finding {
	var out []Finding
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, imp := range f.Imports {
				if why := t.refusesLibrary(m, p.Folder, imp.Path, f.Test); why != "" {
					out = append(out, Finding{fmt.Sprintf("%s:%d", f.Path, imp.Line), why})
				}
			}
		}
	}
	return out
}

func (t Table) refusesLibrary(m *Module, from, importPath string, test bool) string {
	if _, own := m.folderOf(importPath); own {
		return ""
	}
	first, _, _ := strings.Cut(importPath, "/")
	if !strings.Contains(first, ".") {
		if importPath == "C" {
			return "cgo is not used here: the binary must build without a C compiler"
		}
		return ""
	}
	d, ok := t.door(importPath)
	if !ok {
		return fmt.Sprintf("%s has no door: name it in the table of docs/architecture.md and in docs/dependencies.md", importPath)
	}
	if test || isSupport(from) || covers(d.Folder, from) {
		return ""
	}
	return fmt.Sprintf("%s must not import %s: its one door is %s", from, importPath, d.Folder)
}
