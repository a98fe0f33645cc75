package archtest

import (
	"fmt"
	"regexp"
	"strings"
)

// Table is the content of docs/architecture.md.
type Table struct {
	Arrows  []Arrow
	Denied  []Arrow // written as -/>; override Arrows, except for more specific ones
	Doors   []Door
	Folders []string // with a row, as written there without the last slash
}

// Arrow allows the packages at and below From to import those at and below each To.
type Arrow struct {
	From string
	To   []string
}

// Door is the only folder that may import a library outside of tests.
type Door struct {
	Folder  string
	Library string // module path, the prefix of its import paths
}

const doorColumn = "third-party import allowed"

var quoted = regexp.MustCompile("`([^`]+)`")

// ParseTable parses the ```imports blocks and the table whose last column is "third-party import allowed".
func ParseTable(page string) (Table, error) {
	var t Table
	inBlock, inTable := false, false
	for n, line := range strings.Split(page, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			inBlock = !inBlock && trimmed == "```imports"
		case inBlock && trimmed != "":
			a, err := parseArrow(strings.Replace(trimmed, "-/>", "->", 1))
			if err != nil {
				return Table{}, fmt.Errorf("line %d: %w", n+1, err)
			}
			if strings.Contains(trimmed, "-/>") {
				t.Denied = append(t.Denied, a)
			} else {
				t.Arrows = append(t.Arrows, a)
			}
		case strings.HasPrefix(trimmed, "|"):
			inTable = inTable || strings.Contains(trimmed, doorColumn)
			if inTable {
				folders, doors := parseRow(trimmed)
				t.Folders, t.Doors = append(t.Folders, folders...), append(t.Doors, doors...)
			}
		default:
			inTable = false
		}
	}
	if len(t.Arrows) == 0 {
		return Table{}, fmt.Errorf("no ```imports block")
	}
	if len(t.Doors) == 0 {
		return Table{}, fmt.Errorf("no table with a column %q", doorColumn)
	}
	return t, t.check()
}

// parseArrow parses "from -> a, b/{c,d}". The target "standard library" allows no import within the module.
func parseArrow(line string) (Arrow, error) {
	from, to, ok := strings.Cut(line, "->")
	if !ok {
		return Arrow{}, fmt.Errorf("%q is no arrow: write \"folder -> folder, folder\"", line)
	}
	a := Arrow{From: strings.TrimSpace(from)}
	to = strings.TrimSpace(to)
	if to == "standard library" {
		return a, nil
	}
	for _, target := range splitOutsideBraces(to) {
		a.To = append(a.To, expandBraces(strings.TrimSpace(target))...)
	}
	return a, nil
}

func splitOutsideBraces(s string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range s {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, s[start:i])
				start = i + 1
			}
		}
	}
	return append(out, s[start:])
}

func expandBraces(s string) []string {
	before, rest, ok := strings.Cut(s, "{")
	if !ok {
		return []string{s}
	}
	inner, after, _ := strings.Cut(rest, "}")
	var out []string
	for word := range strings.SplitSeq(inner, ",") {
		out = append(out, before+strings.TrimSpace(word)+after)
	}
	return out
}

// parseRow returns the folders and doors of a table row. Header and separator rows have none, because folders and
// libraries are written as code.
func parseRow(line string) (folders []string, doors []Door) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) < 2 {
		return nil, nil
	}
	for _, folder := range quoted.FindAllStringSubmatch(cells[0], -1) {
		folders = append(folders, strings.TrimSuffix(folder[1], "/"))
	}
	if len(folders) == 0 {
		return nil, nil
	}
	for _, library := range quoted.FindAllStringSubmatch(cells[len(cells)-1], -1) {
		doors = append(doors, Door{Folder: folders[0], Library: library[1]})
	}
	return folders, doors
}

// check returns an error if the table contradicts itself.
func (t Table) check() error {
	seen := map[string]string{}
	for _, d := range t.Doors {
		if first, ok := seen[d.Library]; ok {
			return fmt.Errorf("library %s has two doors, %s and %s: one library, one door", d.Library, first, d.Folder)
		}
		seen[d.Library] = d.Folder
	}
	edges := map[string][]string{}
	for _, a := range t.Arrows {
		for _, to := range a.To {
			if top(a.From) != top(to) && !isSupport(a.From) {
				edges[top(a.From)] = append(edges[top(a.From)], top(to))
			}
		}
	}
	if ring := findCycle(edges); ring != nil {
		return fmt.Errorf("the written arrows form a ring: %s", strings.Join(ring, " -> "))
	}
	return nil
}

// Allows reports whether an arrow from one folder to another exists.
func (t Table) Allows(from, to string) bool { return longest(t.Arrows, from, to) > 0 }

// Denies reports whether an arrow from one folder to another is denied, and no more specific arrow allows it.
func (t Table) Denies(from, to string) bool {
	denied := longest(t.Denied, from, to)
	return denied > 0 && denied >= longest(t.Arrows, from, to)
}

// longest returns the length of the most specific From of the arrows that cover an import, or 0.
func longest(arrows []Arrow, from, to string) (n int) {
	for _, a := range arrows {
		if !covers(a.From, from) {
			continue
		}
		for _, target := range a.To {
			if covers(target, to) {
				n = max(n, len(a.From))
			}
		}
	}
	return n
}

// door returns the library of an import path.
func (t Table) door(importPath string) (Door, bool) {
	for _, d := range t.Doors {
		if covers(d.Library, importPath) {
			return d, true
		}
	}
	return Door{}, false
}

// covers reports whether path is folder or below it.
func covers(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}
