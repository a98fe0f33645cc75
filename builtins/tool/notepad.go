package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// NotepadConfig configures notepad. It has no settings.
type NotepadConfig struct{}

// Access implements tool.AccessDescriber.
func (*NotepadConfig) Access() []string { return nil }

// Notepad stores short notes for later steps and runs of a conversation.
var Notepad = component.New("notepad", "Stores short notes for later steps and for later runs of the same conversation.",
	func() NotepadConfig { return NotepadConfig{} }, newNotepad)

const notepadInput = `{"type":"object","properties":{` +
	`"action":{"type":"string","enum":["add","list","clear"],"description":"add: store one note. list: return all notes. clear: delete all notes."},` +
	`"text":{"type":"string","description":"The note (for add). Make it self-contained, with full names, figures and dates."}` +
	`},"required":["action"],"additionalProperties":false}`

// Limits of a notepad, which is included in prompts as a whole.
const (
	maxNote  = 4000      // bytes of one note
	maxNotes = 100       // notes
	maxPad   = 16 * 1000 // bytes of all notes
)

type notepad struct {
	info tool.Info
	now  func() time.Time
}

var (
	_ tool.Tool          = (*notepad)(nil)
	_ tool.SessionKeeper = (*notepad)(nil)
)

func newNotepad(_ *NotepadConfig, s tool.Settings) (tool.Tool, error) {
	now := s.Now
	if now == nil {
		now = time.Now
	}
	return &notepad{toolInfo(s, "notepad",
		"Stores short notes that later steps and later runs of this conversation can read. Add a note for anything that stays relevant: a decision, a user preference, an open question, a mistake that was found. Put results of the step into your report instead, and tables or JSON into variables.",
		notepadInput, tool.IdempotentEffect), now}, nil
}

// Info implements tool.Tool.
func (t *notepad) Info() tool.Info { return t.info }

// SessionPart implements tool.SessionKeeper.
func (t *notepad) SessionPart() memory.SessionPart { return memory.NotesPart }

// Call implements tool.Tool.
func (t *notepad) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[struct {
		Action string `json:"action"`
		Text   string `json:"text"`
	}](ctx, call)
	if err != nil {
		return nil, err
	}
	kept, err := sessionOf(call)
	if err != nil {
		return nil, err
	}
	switch args.Action {
	case "add":
		return t.add(ctx, kept, call, strings.TrimSpace(args.Text))
	case "list":
		return listNotes(ctx, kept)
	case "clear":
		return clearNotes(ctx, kept)
	default:
		return nil, fmt.Errorf(`argument "action" must be add, list or clear, not %q`, args.Action)
	}
}

// add adds a note. A repeated call adds it only once.
func (t *notepad) add(ctx context.Context, kept tool.CallSession, call *tool.Call, body string) (*tool.Output, error) {
	if body == "" {
		return nil, errors.New(`argument "text" is missing; pass the note to add`)
	}
	if len(body) > maxNote {
		return nil, fmt.Errorf("the note has %d bytes, the limit is %d: shorten it", len(body), maxNote)
	}
	note := memory.Note{ID: call.Key, RunID: call.RunID, Text: body, At: t.now().UTC().Truncate(time.Second)}
	count := 0
	err := kept.Update(ctx, func(s *memory.Session) error {
		if !slices.ContainsFunc(s.Notes, func(n memory.Note) bool { return n.ID == note.ID }) {
			if err := room(s.Notes, body); err != nil {
				return err
			}
			s.Notes = append(s.Notes, note)
		}
		count = len(s.Notes)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &tool.Output{Text: "noted; the notepad holds " + text.Count(count, "note")}, nil
}

// room returns an error if another note does not fit.
func room(notes []memory.Note, body string) error {
	bytes := len(body)
	for _, n := range notes {
		bytes += len(n.Text)
	}
	if len(notes) >= maxNotes || bytes > maxPad {
		return fmt.Errorf("the notepad is full (%s): list the notes, clear them, and add one that sums up what still matters", text.Count(len(notes), "note"))
	}
	return nil
}

func listNotes(ctx context.Context, kept tool.CallSession) (*tool.Output, error) {
	s, err := kept.Read(ctx)
	if err != nil {
		return nil, err
	}
	if len(s.Notes) == 0 {
		return &tool.Output{Text: "the notepad is empty"}, nil
	}
	var b strings.Builder
	for i, n := range s.Notes {
		fmt.Fprintf(&b, "%d. [%s] %s\n", i+1, n.At.UTC().Format("2006-01-02 15:04"), n.Text)
	}
	return &tool.Output{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

func clearNotes(ctx context.Context, kept tool.CallSession) (*tool.Output, error) {
	err := kept.Update(ctx, func(s *memory.Session) error {
		s.Notes = nil
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &tool.Output{Text: "the notepad is empty now"}, nil
}
