package speccmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/diff"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/eval/textdiff"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/gitfs"
)

const specDiffDescription = `OLD and NEW are a spec file, a folder, an agent in a file or a URL; git:REF for the same path in a commit; or git:REF:PATH, relative to the working folder. With one argument, the spec is compared with git:HEAD. Everything that the spec includes, extends, calls and reads is taken from the same commit; nothing is checked out. --set and PEX_SET_ variables apply to both sides.

Only differences in behavior count. Formatting, key order, explicit defaults, and texts or agents that moved to another file do not. Recordings, databases, programs and the files in a tool's root folder are compared by content. Tests and suites are not compared.

  looser    A run may do more, or needs fewer approvals: a write without approval, a removed limit or guard, another program, host or environment variable
  safer     The opposite
  breaking  Callers must provide more, or the answer contains less

A spec whose file is new is compared with the removed one that has at least half of its lines, or the same metadata.name (see --no-renames).

The JSON output is {old, new, state: same|changed|new|gone, effects, sections: [{name, title, changes}], agents: [{path, report}], worst_case: {calls, tokens, cost_usd}, renamed, not_compared}. A change is {path, what: added|removed|changed|reordered, old, new, note, effect, at, was, reaches, diff, files}.

` + ui.DiffHelp + `

Exit codes: 0 success; 1 differences with --exit-code; 2 invalid spec.`

// DiffCommand returns "pexctl diff".
func DiffCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "Explain how two specs differ and which restrictions were loosened", ArgsUsage: "[OLD] NEW",
		Description: ui.Help(specDiffDescription,
			"pexctl diff spec.yaml # Changes since the last commit",
			"pexctl diff git:origin/main spec.yaml -o markdown > comment.md # For a pull request",
			"pexctl diff git:v1.2 git:v1.3:agents/spec.yaml # Between two commits",
			"pexctl diff base.yaml spec.yaml # What a spec changes in the one it extends",
			"pexctl diff git:main team.yaml#writer -o json | jq '.effects[] | select(.effect == \"looser\")'",
		),
		Flags: append(
			project.SpecFlags(),
			ui.ExitCodeFlag(),
			&cli.BoolFlag{Name: "no-renames", Usage: "Do not detect renamed specs; report them as removed and added"},
			&cli.IntFlag{Name: "context", Usage: "Context window of the models in `TOKENS`, for the worst-case cost"},
			ui.OutputFlag("text", "json", "markdown"), project.HomeFlag(),
		),
		Action: env.Action(withFlags(specDiff)),
	}
}

func specDiff(c *call) error {
	if c.contextTokens < 0 {
		return failure.Usagef("--context must not be negative")
	}
	old, now, err := twoSpecs(c)
	if err != nil {
		return err
	}
	if old.missing && now.missing {
		return failure.Usagef("neither %s nor %s contains the spec", old.word, now.word)
	}
	if err := loadBoth(c, old, now); err != nil {
		return err
	}
	moved, err := findRename(c, old, now)
	if err != nil {
		return err
	}
	d := specDiffOf(old, now, c.contextTokens)
	d.Renamed = moved
	switch c.Format {
	case "json":
		err = ui.PrintJSON(c.Call, d)
	case "markdown":
		_, err = fmt.Fprint(c.Stdout, d.markdown())
	default:
		d.print(c)
	}
	if err == nil && c.exitCode && d.State != "same" {
		return ui.Exit(ui.ExitNegative, nil)
	}
	return err
}

// diffSide is one of the compared specs.
type diffSide struct {
	word      string // as given
	ref       string // of git:REF; "" if it is on disk, or at a URL
	path      string // the spec's path as the user wrote it
	tree      *gitfs.GitTree
	otherTree *gitfs.GitTree // the tree of the other side, if this side is its files on disk
	same      bool           // git:REF alone: the path is the other side's
	missing   bool           // the file does not exist
	spec      *dsl.Spec
}

// twoSpecs returns the two sides in the arguments. A single spec is compared with
// the last commit.
func twoSpecs(c *call) (old, now *diffSide, err error) {
	if _, err := project.SpecArg(c.Call); err != nil {
		return nil, nil, err
	}
	if err := c.AtMost(2); err != nil {
		return nil, nil, err
	}
	words := c.Args
	if len(words) == 1 {
		words = []string{"git:HEAD", words[0]}
		if strings.HasPrefix(words[1], "git:") {
			return nil, nil, failure.WithHintf(failure.Usagef("diff needs a second spec"), "use pexctl diff %s spec.yaml", words[1])
		}
	}
	var sides [2]*diffSide
	for i, word := range words {
		if sides[i], err = diffSideOf(word); err != nil {
			return nil, nil, err
		}
	}
	old, now = sides[0], sides[1]
	for _, s := range sides {
		if err := s.locate(c, old.path, now.path); err != nil {
			return nil, nil, err
		}
	}
	old.otherTree, now.otherTree = now.tree, old.tree
	if !old.missing && !now.missing {
		old.missing, now.missing = now.same && old.deleted(), old.same && now.deleted()
	}
	return old, now, nil
}

// deleted reports whether a side is missing on disk at the path that a commit
// has, which is a difference. At any other path it is a mistake.
func (s *diffSide) deleted() bool {
	file := specfs.FileOf(s.path)
	if s.ref != "" || strings.Contains(file, "://") {
		return false
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "spec.yaml")
	}
	_, err := os.Stat(file)
	return errors.Is(err, fs.ErrNotExist)
}

// diffSideOf parses a word: SPEC, git:REF or git:REF:PATH.
func diffSideOf(word string) (*diffSide, error) {
	rest, inGit := strings.CutPrefix(word, "git:")
	if !inGit {
		return &diffSide{word: word, path: word}, nil
	}
	ref, path, _ := strings.Cut(rest, ":")
	if ref == "" {
		return nil, failure.Usagef("invalid revision %q; use git:REF or git:REF:PATH, such as git:origin/main", word)
	}
	return &diffSide{word: word, ref: ref, path: path}, nil
}

// locate finds the file of a side; git:REF alone uses the other side's.
func (s *diffSide) locate(c *call, paths ...string) error {
	for _, path := range paths {
		if s.path == "" {
			s.path, s.same = path, true
		}
	}
	if s.ref == "" {
		return nil
	}
	if s.path == "" {
		return failure.WithHintf(failure.Usagef("no spec given"), "use pexctl diff %s spec.yaml, or %[1]s:spec.yaml", s.word)
	}
	file := specfs.FileOf(s.path)
	if strings.Contains(file, "://") {
		return failure.Usagef("%s: git has no %s; give its path with git:%s:PATH", s.word, file, s.ref)
	}
	var err error
	if s.tree, err = gitfs.OpenGitTree(c.Context, s.ref, file); err != nil {
		return err
	}
	o, inside, err := s.tree.Object(fspath.Absolute(file))
	if err == nil && o.Kind == "tree" {
		s.path = filepath.Join(file, "spec.yaml") + strings.TrimPrefix(s.path, file)
		o, inside, err = s.tree.Object(fspath.Absolute(filepath.Join(file, "spec.yaml")))
	}
	switch {
	case err != nil:
		return failure.Infra(err)
	case !inside:
		return failure.Usagef("%s: %s is not in the repository at %s", s.word, file, s.tree.Repo.Top())
	}
	s.missing = o.Kind != "blob"
	if elsewhere := s.tree.LinkTarget(fspath.Absolute(specfs.FileOf(s.path))); elsewhere != "" {
		return failure.Usagef("%s: %s is a link to %s that the commit does not have; compare that path instead", s.word, specfs.FileOf(s.path), elsewhere)
	}
	return nil
}

// loadBoth loads the specs, and shows the diagnostics of both. Those of a commit
// are shown with its name.
func loadBoth(c *call, sides ...*diffSide) error {
	var broken diag.List
	for _, s := range sides {
		if s.missing {
			continue
		}
		found, err := s.load(c)
		if err != nil {
			return err
		}
		if found.Failed() {
			broken = append(broken, found...)
		}
	}
	if !broken.Failed() {
		return nil
	}
	return ui.ShowDiagnostics(c.Call, broken)
}

func (s *diffSide) load(c *call) (diag.List, error) {
	path, err := project.Local(c.Call, s.path)
	if err != nil {
		return nil, err
	}
	o := project.OptionsFor(c.Call, s.path)
	if o.List = s.otherTree.ListOnDisk; s.tree != nil {
		o.Read, o.List, o.Pins = s.tree.Read, s.tree.List, s.tree.Pins
	} else if _, err := os.Stat(specfs.FileOf(path)); errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Usagef("%s does not exist", path)
	}
	spec, found := dsl.Load(path, o)
	s.spec = spec
	for i := range found {
		if s.ref != "" && found[i].File != "" {
			found[i].File = "git:" + s.ref + ":" + found[i].File
		}
	}
	return found, nil
}

// name returns the name for users: git:REF:PATH, or the path.
func (s *diffSide) name() string {
	if s.ref == "" {
		return s.path
	}
	return "git:" + s.ref + ":" + filepath.ToSlash(s.path)
}

// SpecDiff is the difference of two specs in the form for output.
type SpecDiff struct {
	Old      string               `json:"old"`
	New      string               `json:"new"`
	State    string               `json:"state"` // same, changed, new, gone
	Renamed  *specRename          `json:"renamed,omitempty"`
	Effects  []diff.Change        `json:"effects"`
	Sections []diff.Section       `json:"sections"`
	Agents   []diff.Agent         `json:"agents"`
	Worst    *diff.WorstCase      `json:"worst_case,omitempty"`
	Unread   []diff.SkippedFolder `json:"not_compared,omitempty"`
}

// folders returns those that were not compared, each once.
func (d *SpecDiff) folders() []diff.SkippedFolder {
	return (&diff.Report{Skipped: d.Unread}).Folders()
}

func specDiffOf(old, now *diffSide, context int) *SpecDiff {
	r := diff.Compare(old.spec, now.spec, diff.Options{Context: context, Unified: func(before, after string) string {
		return textdiff.Compare(before, after).Unified(0)
	}})
	d := &SpecDiff{
		Old: old.name(), New: now.name(), State: "changed",
		Effects: append([]diff.Change{}, r.Effects()...), Sections: r.Sections, Agents: r.Agents, Worst: r.WorstCase, Unread: r.Skipped,
	}
	switch {
	case old.missing:
		d.State = "new"
	case now.missing:
		d.State = "gone"
	case r.Same:
		d.State = "same"
	}
	return d
}
