package golden

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/eval/textdiff"
)

// Artifact is an output of a run that has a golden file.
type Artifact struct {
	Name string // planner.prompt.md, planner.params.json, tools.json, trajectory.json, output.md or output.json
	Text string
}

// Kind classifies a difference between an artefact and its golden file.
type Kind string

// The kinds of changes.
const (
	Changed Kind = "changed"
	Missing Kind = "missing" // the golden file does not exist
	Unused  Kind = "unused"  // no case uses the golden file
)

// Change is a golden file that differs. It is valid while the Tree is open.
type Change struct {
	Case string // owner; "" if Unused
	Name string // of the artefact
	File string // absolute path of the golden file
	Kind Kind
	Want string // content of the golden file; "" if Missing
	Got  string // masked output of the run; "" if Unused
	// Causes lists the spec texts that changed it. The caller, who has the spec, sets it with Blame.
	Causes []Cause

	tree *Tree
	rel  string // File, relative to the tree's root
}

// ErrStrict is returned instead of writing golden files in CI, where no human reads the diff.
var ErrStrict = errors.New("golden files are not written here (CI is set): run pexctl test --update on your machine, read the diff and commit it")

// Accept writes the run's output to the golden file atomically or, if it is Unused,
// removes the file.
func (c Change) Accept() error {
	if c.Kind == Unused {
		return c.tree.remove(c.rel)
	}
	return c.tree.write(c.rel, c.Got)
}

// Diff returns the diff of accepting the change.
func (c Change) Diff() textdiff.Diff { return textdiff.Compare(c.Want, c.Got) }

// Node returns the node whose prompt or parameters the golden contains, or "".
func (c Change) Node() string {
	if _, node := rank(c.Name); node != "" {
		return node
	}
	return ""
}

// File names of artefacts, in the order in which they are compared and numbered. Results come last, so that a
// failed run does not renumber prompts. Other files in the folder are ignored.
var (
	nodeSuffixes = []string{".prompt.md", ".params.json"} // follow the id of a node
	fileNames    = []string{"tools.json", "trajectory.json", "output.md", "output.json"}
)

// rank returns the position of an artefact in that order and its node ("" = none). place is -1 if the name is
// unknown.
func rank(name string) (place int, node string) {
	if i := slices.Index(fileNames, name); i >= 0 {
		return len(nodeSuffixes) + i, ""
	}
	for i, end := range nodeSuffixes {
		if node, ok := strings.CutSuffix(name, end); ok && isName(node) {
			return i, node
		}
	}
	return -1, ""
}

// isName reports whether s can be the id of a node or the name of a rule.
func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '_' || c == '-'):
		default:
			return false
		}
	}
	return s != ""
}

// isPromptFile reports whether a path is the file of one prompt rather than a folder.
func isPromptFile(path string) bool { return filepath.Ext(path) == ".md" }

// isResult reports whether an artefact is a result of the run rather than an input of its models.
func isResult(name string) bool {
	place, _ := rank(name)
	return place > len(nodeSuffixes)
}

// plainText converts line endings to
//
//	and adds a missing one at the end.
func plainText(s string) string {
	if strings.Contains(s, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
