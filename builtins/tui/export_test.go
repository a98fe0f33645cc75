package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Frames draws a screen without a terminal, for tests.
type Frames struct {
	m       *model
	Printed []string // the transcript
}

// NewFrames returns the frames of a screen of a size.
func NewFrames(o Options, columns, rows int) *Frames {
	f := &Frames{m: New(o).model}
	f.Send(tea.WindowSizeMsg{Width: columns, Height: rows})
	return f
}

// Send passes on a message, and those that follow from it at once.
func (f *Frames) Send(msg tea.Msg) {
	_, cmd := f.m.Update(msg)
	if cmd == nil || f.m.busy {
		return
	}
	if f.m.printing { // what is printed is no longer pending
		f.Printed = append(f.Printed, f.m.printed[len(f.Printed):]...)
		f.Send(printedMsg{})
	}
}

// Key presses keys, by their names.
func (f *Frames) Key(names ...string) {
	for _, name := range names {
		f.Send(keyOf(name))
	}
}

// Type types a text.
func (f *Frames) Type(s string) {
	for _, r := range s {
		f.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// Print adds lines to the transcript.
func (f *Frames) Print(s string) { f.Send(printMsg(s)) }

// Prompt sets the prompt.
func (f *Frames) Prompt(prompt, hint string) { f.Send(promptMsg{prompt, hint}) }

// Left reports whether the person has left.
func (f *Frames) Left() bool { return f.m.quitting }

// String returns what is below the transcript, with ▏ before the cursor.
func (f *Frames) String() string {
	content, cursor := f.m.layout()
	lines := strings.Split(content, "\n")
	at := []rune(lines[cursor.Y])
	x := min(cursor.X, len(at))
	lines[cursor.Y] = string(at[:x]) + "▏" + string(at[x:])
	return strings.Join(lines, "\n") + "\n"
}

// keyOf returns a key by its name, such as alt+enter.
func keyOf(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "tab": tea.KeyTab,
	}
	k := tea.KeyPressMsg{}
	for {
		mod, rest, ok := strings.Cut(name, "+")
		if !ok {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"alt": tea.ModAlt, "ctrl": tea.ModCtrl, "shift": tea.ModShift}[mod]
		name = rest
	}
	k.Code = codes[name]
	if k.Code == 0 {
		k.Code = []rune(name)[0]
	}
	return k
}
