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

// Kind says how an artefact and its golden file stand to each other.
type Kind string

// The kinds of changes. What is the same is no change.
const (
	Changed Kind = "changed"
	Missing Kind = "missing" // there is no golden yet
	Unused  Kind = "unused"  // a golden that no case asks for
)

// Change is a golden file that differs. It is valid while the Tree is open.
type Change struct {
	Case string // owner; "" = Unused
	Name string // of the artefact
	File string // absolute path of the golden file
	Kind Kind
	Want string // what the golden holds; "" where it is Missing
	Got  string // what the run gave, masked; "" where the golden is Unused
	// Causes is where the spec's author wrote what changed it; the caller, who
	// has the spec, fills it by Blame.
	Causes []Cause

	tree *Tree
	rel  string // File, below the tree's root
}

// ErrStrict is returned when goldens would be written in CI, where no human reads the
// diff.
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

// The names of artefacts, in the order in which they are compared and numbered:
// what a run gives comes last, so that one that fails renumbers no prompt.
// Whatever else lies beside goldens is somebody else's.
var (
	endings = []string{".prompt.md", ".params.json"} // behind the id of a node
	names   = []string{"tools.json", "trajectory.json", "output.md", "output.json"}
)

// rank is the place of an artefact in that order, and its node; -1 = no
// artefact is called that.
func rank(name string) (place int, node string) {
	if i := slices.Index(names, name); i >= 0 {
		return len(endings) + i, ""
	}
	for i, end := range endings {
		if node, ok := strings.CutSuffix(name, end); ok && isName(node) {
			return i, node
		}
	}
	return -1, ""
}

// isName says that a text can be the id of a node or the name of a rule.
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

// single says that a path is the file of one prompt rather than a folder.
func single(path string) bool { return filepath.Ext(path) == ".md" }

// isRun says that an artefact is what a run gave, not what its models were told.
func isRun(name string) bool {
	place, _ := rank(name)
	return place > len(endings)
}

// plainText is a text as goldens hold it: lines end with \n, the last one too.
func plainText(s string) string {
	if strings.Contains(s, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
