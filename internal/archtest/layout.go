package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rowEach are the top folders whose every folder has a row of its own: a reader
// finds there what each of them is.
var rowEach = []string{"engine", "dsl", "providers"}

// CheckLayout compares the rows of the table with the folders there are: a row
// without a folder promises what is not there, a folder without a row is found
// by nobody. It is no part of Check, which looks at code alone.
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
