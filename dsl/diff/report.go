package diff

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/engine/costbound"
)

// Report is how a spec differs from an earlier one. Nothing in it depends on
// the order of keys.
type Report struct {
	// Same says that no difference affects a run.
	Same     bool       `json:"same"`
	Sections []Section  `json:"sections"` // those with changes, in a fixed order
	Agents   []Agent    `json:"agents"`   // the agents within that differ
	Worst    *WorstCase `json:"worst_case,omitempty"`
	// Unread are the folders that tools read in whose files were not compared,
	// those of the agents within included.
	Unread []Unread `json:"not_compared,omitempty"`
}

// Unread is a folder that was not compared.
type Unread struct {
	Path   string `json:"path"`   // tools.read_file.root
	Folder string `json:"folder"` // as the spec has it
	Why    string `json:"why"`
}

// Section is the changes of one part of a spec.
type Section struct {
	Name    string   `json:"name"`  // inputs, models, ...
	Title   string   `json:"title"` // for people
	Changes []Change `json:"changes"`
}

// Agent is how an agent within differs.
type Agent struct {
	Path   string `json:"path"` // who calls it: tools.research; agents.x for one that nobody calls
	Report Report `json:"report"`
}

// What is what happened to a part of a spec.
type What string

// What happens to parts.
const (
	Added     What = "added"
	Removed   What = "removed"
	Changed   What = "changed"
	Reordered What = "reordered"
)

// Effect is what a change does to runs, as far as that is known.
type Effect string

// The effects.
const (
	Looser   Effect = "looser"   // a run may do more than before, or does it with less asking
	Safer    Effect = "safer"    // less, or with more asking
	Breaking Effect = "breaking" // callers have to give more, or readers of the answer find less
)

// Change is one thing that is not as it was.
type Change struct {
	Path    string   `json:"path"` // dotted: tools.write_file.approval
	What    What     `json:"what"`
	Old     string   `json:"old,omitempty"`     // in short, as the spec has it
	New     string   `json:"new,omitempty"`     // likewise
	Note    string   `json:"note,omitempty"`    // what that means
	Effect  Effect   `json:"effect,omitempty"`  // "" = neither, or nobody can tell
	At      string   `json:"at,omitempty"`      // where it is in the new files: spec.yaml:12:3
	Was     string   `json:"was,omitempty"`     // where it stood, of what was removed
	Reaches []string `json:"reaches,omitempty"` // who uses it: roles of an llm, templates of a named prompt
	Diff    string   `json:"diff,omitempty"`    // unified, of long texts
	Files   []File   `json:"files,omitempty"`   // of a folder: those that are not as they were

	// Before and After are the long texts themselves; Diff is theirs.
	Before string `json:"-"`
	After  string `json:"-"`
	folder string // of Files
}

// WorstCase is the most that a run can ask of models, before and now.
type WorstCase struct {
	Calls  Shift[int]     `json:"calls"`
	Tokens Shift[int]     `json:"tokens"`
	Cost   Shift[float64] `json:"cost_usd"`
}

// Shift is a figure before and now. Of a spec that is new, or gone, one is nil.
type Shift[T int | float64] struct {
	Old *costbound.Quantity[T] `json:"old,omitempty"`
	New *costbound.Quantity[T] `json:"new,omitempty"`
}

// Percent is by how many percent the figure rose, and false where one of the
// two is not known or was nothing.
func (s Shift[T]) Percent() (float64, bool) {
	if s.Old == nil || s.New == nil || !s.Old.Known() || !s.New.Known() || s.Old.Most == 0 {
		return 0, false
	}
	return 100 * (float64(s.New.Most) - float64(s.Old.Most)) / float64(s.Old.Most), true
}

// Changed says that the figure is another one.
func (s Shift[T]) Changed() bool {
	if s.Old == nil || s.New == nil {
		return s.Old != s.New
	}
	return s.Old.Known() != s.New.Known() || s.Old.Most != s.New.Most
}

// MarshalJSON adds the percent.
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

// Effects are the changes that have an effect, the agents within included, those
// of one kind after those of another: looser, breaking, safer.
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

// Folders are those that were not compared, each once, with the paths that name
// them.
func (r *Report) Folders() []Unread {
	var out []Unread
	for _, u := range r.Unread {
		i := slices.IndexFunc(out, func(x Unread) bool { return x.Folder == u.Folder })
		if i < 0 {
			out = append(out, u)
			continue
		}
		out[i].Path += ", " + u.Path
	}
	return out
}

// Count is how many changes there are, the agents within included.
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
