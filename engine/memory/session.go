package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SessionPart is a part of the session state.
type SessionPart string

// The parts of a session.
const (
	NotesPart     SessionPart = "notes"
	VariablesPart SessionPart = "variables"
)

// SessionView is the session state as prompts show it: complete notes, and previews of
// variables.
type SessionView struct {
	Notes     []Note         `json:"notes,omitempty"`     // oldest first
	Variables []VariableView `json:"variables,omitempty"` // by name
}

// VariableView describes a variable without its whole value.
type VariableView struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // text, number, true or false, list, object, null
	Size    int    `json:"size"` // bytes of the value's JSON
	Preview string `json:"preview"`
}

// previewBytes is the length of a preview.
const previewBytes = 120

// View returns the session state for prompts.
func (s Session) View() SessionView {
	v := SessionView{Notes: slices.Clone(s.Notes)}
	for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
		v.Variables = append(v.Variables, viewVariable(name, s.Variables[name]))
	}
	return v
}

// Empty reports whether there is nothing to show.
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

// String formats the variable on one line.
func (v VariableView) String() string {
	return fmt.Sprintf("%s (%s, %d bytes): %s", v.Name, v.Type, v.Size, v.Preview)
}
