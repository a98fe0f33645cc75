package graph

import (
	"slices"
	"strings"
)

// NoteKind is the subject of a note.
type NoteKind string

// The note kinds, in the order in which boxes show them.
const (
	ModelNote    NoteKind = "model"    // an LLM that the node calls
	AgentNote    NoteKind = "agent"    // another spec that the node runs
	ToolNote     NoteKind = "tool"     // a tool that the node can call
	PromptNote   NoteKind = "prompt"   // a prompt of the node that has a file or a name
	QuestionNote NoteKind = "question" // what the node asks a human
	ApprovalNote NoteKind = "approval" // when a human approves what the node plans
	DetailNote   NoteKind = "detail"   // any other detail of the node
	LimitNote    NoteKind = "limit"    // a limit of the run
	GuardNote    NoteKind = "guard"    // a guard that is evaluated here
)

var noteKinds = []NoteKind{ModelNote, AgentNote, ToolNote, PromptNote, QuestionNote, ApprovalNote, DetailNote, LimitNote, GuardNote}

// Note is a line about a node, or about the whole graph, in a picture.
type Note struct {
	Kind NoteKind `json:"kind"`
	Text string   `json:"text"`
	// Approval is the condition under which a call of a tool needs approval: "always"
	// or an expression. Empty means never.
	Approval string `json:"approval,omitempty"`
	// Approvers is the rule about who may approve.
	Approvers string `json:"approvers,omitempty"`
}

// Annotate adds notes to the drawing, by node id; notes of the whole graph have the key
// "". It must be called before the drawing is used.
func (d *Drawing) Annotate(notes map[string][]Note) *Drawing {
	d.notes = sortedNotes(notes[""])
	for i := range d.nodes {
		d.nodes[i].notes = sortedNotes(notes[d.nodes[i].ID])
	}
	return d
}

func sortedNotes(notes []Note) []Note {
	out := slices.Clone(notes)
	slices.SortStableFunc(out, func(a, b Note) int {
		return slices.Index(noteKinds, a.Kind) - slices.Index(noteKinds, b.Kind)
	})
	return out
}

// noteRow is a row of a box with notes of one kind. Tools share a row, and so do limits;
// every other note has its own.
type noteRow struct {
	kind  NoteKind
	notes []Note
}

func noteRows(notes []Note) []noteRow {
	var rows []noteRow
	for _, n := range notes {
		last := len(rows) - 1
		if shared := n.Kind == ToolNote || n.Kind == LimitNote; shared && last >= 0 && rows[last].kind == n.Kind {
			rows[last].notes = append(rows[last].notes, n)
			continue
		}
		rows = append(rows, noteRow{n.Kind, []Note{n}})
	}
	return rows
}

// lines returns the row as text. Each tool that may need approval has its own line; lock
// returns the text after its name.
func (r noteRow) lines(lock func(Note) string) (lines []string) {
	var free []string
	for _, n := range r.notes {
		if n.Approval != "" {
			lines = append(lines, "tool: "+n.Text+" "+lock(n))
			continue
		}
		free = append(free, n.Text)
	}
	if len(free) == 0 {
		return lines
	}
	return append([]string{r.label(len(free)) + strings.Join(free, ", ")}, lines...)
}

// label returns the heading of a line with n notes; models and details have none.
func (r noteRow) label(n int) string {
	switch r.kind {
	case ModelNote, DetailNote:
		return ""
	case QuestionNote:
		return "asks: "
	case ApprovalNote:
		return "plan approval: "
	case AgentNote, ToolNote, PromptNote, LimitNote, GuardNote:
	}
	if n > 1 {
		return string(r.kind) + "s: "
	}
	return string(r.kind) + ": "
}

// noteTexts returns all notes as text, one row per line.
func noteTexts(notes []Note, lock func(Note) string) (lines []string) {
	for _, row := range noteRows(notes) {
		lines = append(lines, row.lines(lock)...)
	}
	return lines
}

// padlock marks a tool that may need approval where there is no room for the condition.
func padlock(Note) string { return "🔒" }

// approvalText returns a text with the condition under which a tool needs approval.
func approvalText(n Note) string {
	text := "needs approval"
	if n.Approval != "always" {
		text += " when " + n.Approval
	}
	if n.Approvers != "" {
		text += "; " + n.Approvers
	}
	return "(" + text + ")"
}
