package diff

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/engine/costbound"
)

// Report describes how a spec differs from an earlier version. It does not depend
// on the order of keys.
type Report struct {
	// Same is set if no difference affects a run.
	Same      bool       `json:"same"`
	Sections  []Section  `json:"sections"` // sections with changes, in a fixed order
	Agents    []Agent    `json:"agents"`   // agents within that differ
	WorstCase *WorstCase `json:"worst_case,omitempty"`
	// SkippedFolder are folders of tools whose files were not compared, including those of
	// agents within.
	Skipped []SkippedFolder `json:"not_compared,omitempty"`
}

// SkippedFolder is a folder that was not compared.
type SkippedFolder struct {
	Path   string `json:"path"`   // tools.read_file.root
	Folder string `json:"folder"` // as written in the spec
	Why    string `json:"why"`
}

// Section holds the changes of one part of a spec.
type Section struct {
	Name    string   `json:"name"`  // inputs, models, ...
	Title   string   `json:"title"` // for humans
	Changes []Change `json:"changes"`
}

// Agent describes how an agent within differs.
type Agent struct {
	Path   string `json:"path"` // the caller: tools.research; agents.x if nothing calls it
	Report Report `json:"report"`
}

// ChangeKind is the kind of a change.
type ChangeKind string

// Kinds of changes.
const (
	Added     ChangeKind = "added"
	Removed   ChangeKind = "removed"
	Changed   ChangeKind = "changed"
	Reordered ChangeKind = "reordered"
)

// Effect is the effect of a change on runs, if known.
type Effect string

// Effects.
const (
	Looser   Effect = "looser"   // a run may do more than before, or asks less often
	Safer    Effect = "safer"    // a run may do less, or asks more often
	Breaking Effect = "breaking" // callers must pass more, or the answer contains less
)

// Change is one difference.
type Change struct {
	Path   string     `json:"path"` // dotted: tools.write_file.approval
	Kind   ChangeKind `json:"what"`
	Old    string     `json:"old,omitempty"`     // shortened, as written in the spec
	New    string     `json:"new,omitempty"`     // likewise
	Note   string     `json:"note,omitempty"`    // what it means
	Effect Effect     `json:"effect,omitempty"`  // "" if neither or unknown
	At     string     `json:"at,omitempty"`      // place in the new files: spec.yaml:12:3
	OldAt  string     `json:"was,omitempty"`     // old place of what was removed
	Users  []string   `json:"reaches,omitempty"` // its users: roles of an LLM, templates of a named prompt
	Diff   string     `json:"diff,omitempty"`    // unified diff of long texts
	Files  []File     `json:"files,omitempty"`   // files of a folder that differ

	// Before and After are the long texts of Diff.
	Before string `json:"-"`
	After  string `json:"-"`
	folder string // of Files
}

// WorstCase compares the worst case of a run.
type WorstCase struct {
	Calls  Shift[int]     `json:"calls"`
	Tokens Shift[int]     `json:"tokens"`
	Cost   Shift[float64] `json:"cost_usd"`
}

// Shift is a figure before and after. One of them is nil for an added or removed
// spec.
type Shift[T int | float64] struct {
	Old *costbound.Quantity[T] `json:"old,omitempty"`
	New *costbound.Quantity[T] `json:"new,omitempty"`
}

// Percent returns the increase in percent, and false if one of the figures is
// unknown or zero.
func (s Shift[T]) Percent() (float64, bool) {
	if s.Old == nil || s.New == nil || !s.Old.Known() || !s.New.Known() || s.Old.Most == 0 {
		return 0, false
	}
	return 100 * (float64(s.New.Most) - float64(s.Old.Most)) / float64(s.Old.Most), true
}

// Changed reports whether the figure changed.
func (s Shift[T]) Changed() bool {
	if s.Old == nil || s.New == nil {
		return s.Old != s.New
	}
	return s.Old.Known() != s.New.Known() || s.Old.Most != s.New.Most
}

// MarshalJSON adds the percentage.
func (s Shift[T]) MarshalJSON() ([]byte, error) {
	type plain Shift[T]
	out := struct {
		plain
		Percent *float64 `json:"percent,omitempty"`
	}{plain: plain(s)}
	if p, ok := s.Percent(); ok {
		out.Percent = &p
	}
	return json.Marshal(out)
}

// Effects returns the changes with an effect, including those of agents within,
// grouped by effect: looser, breaking, safer.
func (r *Report) Effects() []Change {
	var out []Change
	for _, effect := range []Effect{Looser, Breaking, Safer} {
		out = r.effects(effect, "", out)
	}
	return out
}

func (r *Report) effects(effect Effect, within string, out []Change) []Change {
	for _, s := range r.Sections {
		for _, c := range s.Changes {
			if c.Effect == effect {
				c.Path = within + c.Path
				out = append(out, c)
			}
		}
	}
	for i := range r.Agents {
		out = r.Agents[i].Report.effects(effect, within+r.Agents[i].Path+" > ", out)
	}
	return out
}

// Folders returns the folders that were not compared, without duplicates, with
// the paths that name them.
func (r *Report) Folders() []SkippedFolder {
	var out []SkippedFolder
	for _, u := range r.Skipped {
		i := slices.IndexFunc(out, func(x SkippedFolder) bool { return x.Folder == u.Folder })
		if i < 0 {
			out = append(out, u)
			continue
		}
		out[i].Path += ", " + u.Path
	}
	return out
}

// Count returns the number of changes, including those of agents within.
func (r *Report) Count() int {
	n := 0
	for _, s := range r.Sections {
		n += len(s.Changes)
	}
	for i := range r.Agents {
		n += r.Agents[i].Report.Count()
	}
	return n
}
