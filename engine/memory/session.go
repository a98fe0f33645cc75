package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SessionPart is a part of what a conversation keeps between its runs.
type SessionPart string

// The parts of a session.
const (
	NotesPart     SessionPart = "notes"
	VariablesPart SessionPart = "variables"
)

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
