package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// SessionPart is a part of what a conversation keeps between its runs.
type SessionPart string

// The parts of a session.
const (
	NotesPart     SessionPart = "notes"
	VariablesPart SessionPart = "variables"
)

// SessionTool is a capability of a Tool: it keeps a part of the session through
// Call.Session. The planner and the executor of a run that has the tool are
// shown what that part held when the run began.
type SessionTool interface {
	Keeps() SessionPart
}

// SessionView is a session as prompts show it: notes whole, variables by name
// and with the beginning of their values.
type SessionView struct {
	Notes     []Note         `json:"notes,omitempty"`     // oldest first
	Variables []VariableView `json:"variables,omitempty"` // by name
}

// VariableView is a variable without its value.
type VariableView struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // text, number, true or false, list, object, null
	Size    int    `json:"size"` // of the value's JSON, in bytes
	Preview string `json:"preview"`
}

// previewBytes is how much of a value a preview shows.
const previewBytes = 120

// View is what prompts show of the session.
func (s Session) View() SessionView {
	v := SessionView{Notes: slices.Clone(s.Notes)}
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		v.Variables = append(v.Variables, viewVariable(name, s.Variables[name]))
	}
	return v
}

// Empty says that there is nothing to show.
func (v SessionView) Empty() bool { return len(v.Notes)+len(v.Variables) == 0 }

func viewVariable(name string, value json.RawMessage) VariableView {
	var one bytes.Buffer
	if json.Compact(&one, value) != nil {
		one.Write(value)
	}
	preview := one.String()
	if len(preview) > previewBytes {
		preview = strings.ToValidUTF8(preview[:previewBytes], "") + " …"
	}
	return VariableView{Name: name, Type: typeOfJSON(one.Bytes()), Size: one.Len(), Preview: preview}
}

func typeOfJSON(b []byte) string {
	if len(b) == 0 {
		return "nothing"
	}
	switch b[0] {
	case '"':
		return "text"
	case '[':
		return "list"
	case '{':
		return "object"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// String is the variable as one line.
func (v VariableView) String() string {
	return fmt.Sprintf("%s (%s, %d bytes): %s", v.Name, v.Type, v.Size, v.Preview)
}

// boundSession is the session of one conversation.
type boundSession struct {
	memory SessionMemory
	id     string
}

var _ CallSession = boundSession{}

func (b boundSession) Read(ctx context.Context) (Session, error) {
	s, err := b.memory.Session(ctx, b.id)
	return s, sessionTrouble(err)
}

func (b boundSession) Update(ctx context.Context, change func(*Session) error) error {
	var refused error
	err := b.memory.UpdateSession(ctx, b.id, func(s *Session) error {
		refused = change(s)
		return refused
	})
	if refused != nil {
		return err
	}
	return sessionTrouble(err)
}

// session is what the conversation of this run, or of the one it is nested in,
// keeps; nil where nothing is kept.
func (r *run) session() CallSession {
	if r.program.Memory.Backend == "none" {
		return nil
	}
	root := r.root()
	if memory, ok := root.host.Memory.(SessionMemory); ok && root.remembers() {
		return boundSession{memory, root.ids.memory}
	}
	return nil
}

// root is the run that is nested in no other.
func (r *run) root() *run {
	for r.parent != nil {
		r = r.parent
	}
	return r
}

// keeps is the parts of the session that this run's tools keep.
func (r *run) keeps() (notes, variables bool) {
	for i := range r.host.Tools {
		if t, ok := r.host.Tools[i].Tool.(SessionTool); ok {
			notes = notes || t.Keeps() == NotesPart
			variables = variables || t.Keeps() == VariablesPart
		}
	}
	return notes, variables
}

// readSession reads what this run's tools kept in earlier runs of the
// conversation. Without it the run is poorer, and goes on.
func (r *run) readSession(s *scope) error {
	notes, variables := r.keeps()
	kept := r.session()
	if kept == nil || !notes && !variables {
		return nil
	}
	view, err := kernel.Do(s.k, kernel.Effect[SessionView]{
		Name: "memory.session", Class: journal.Read, Layer: LayerMemory, Digest: digest([]byte(r.root().ids.memory)),
		Perform: func(ctx context.Context, _ string) (SessionView, error) {
			ctx, cancel := r.boundStore(ctx)
			defer cancel()
			found, err := kept.Read(ctx)
			if !notes {
				found.Notes = nil
			}
			if !variables {
				found.Variables = nil
			}
			return found.View(), err
		},
	})
	var f *journal.Failure
	switch {
	case errors.As(err, &f):
		s.Record(Warned{Text: "what earlier runs kept for this conversation could not be read: " + f.Message})
	case err != nil:
		return err
	case !view.Empty():
		s.Record(SessionRead{view})
	}
	return nil
}
