package tui_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/builtins/tui"
	"github.com/pexctl/pex/engine/goldentest"
)

// frames returns a screen that records what is submitted.
func frames(columns, rows int, live ...string) (f *tui.Frames, said *[]string) {
	said = &[]string{}
	return tui.NewFrames(tui.Options{
		Live:   func(_, rows int) []string { return live[:min(rows, len(live))] },
		Submit: func(s string) { *said = append(*said, s) }, Interrupt: func(s string) { *said = append(*said, "interrupt:"+s) },
		MaxText: 1 << 10, Commands: []string{"/fork", "/file", "/help", "/new"},
	}, columns, rows), said
}

// The frames of a short conversation: typing, several lines, history, completion, a narrow screen.
func TestFrames(t *testing.T) {
	f, said := frames(40, 12, "plan v1", "  ◐ s1 look")
	var out strings.Builder
	frame := func(what string) { fmt.Fprintf(&out, "--- %s\n%s", what, f) }
	frame("empty")
	f.Prompt("message › ", "Esc interrupts")
	f.Type("Why is")
	f.Key("alt+enter")
	f.Type("checkout slow?")
	frame("two lines")
	f.Key("up", "home")
	f.Type("! ")
	frame("edited above")
	f.Key("enter")
	frame("sent")
	f.Type("/he")
	f.Key("tab", "enter")
	f.Type("draft")
	f.Key("up")
	frame("the latest of the history")
	f.Key("up", "up", "down")
	f.Key("end", "ctrl+w")
	frame("a word less")
	f.Key("down", "down")
	frame("the draft again")
	f.Key("esc", "ctrl+c")
	frame("Ctrl-C once")
	f.Send(tea.PasteMsg{Content: "a\r\nb\ttab \x1b[31mred\u202e\n" + strings.Repeat("wide 世界 ", 8)})
	frame("pasted")
	f.Send(tea.WindowSizeMsg{Width: 12, Height: 5})
	frame("narrow")
	f.Send(tea.WindowSizeMsg{Width: 3, Height: 2})
	frame("tiny")
	fmt.Fprintf(&out, "--- said\n%q\n", *said)
	goldentest.File(t, "frames.golden", out.String())
}

func TestCtrlCTwiceLeaves(t *testing.T) {
	f, _ := frames(40, 10)
	f.Type("text")
	f.Key("ctrl+c")
	if f.Left() || strings.Contains(f.String(), "text") {
		t.Errorf("after Ctrl-C with a text: left %v\n%s", f.Left(), f)
	}
	f.Key("ctrl+c")
	if f.Left() || !strings.Contains(f.String(), "Ctrl-C again leaves") {
		t.Errorf("after Ctrl-C: left %v\n%s", f.Left(), f)
	}
	f.Type("x")
	f.Key("backspace", "ctrl+c")
	if f.Left() {
		t.Error("left after another key")
	}
	if f.Key("ctrl+c"); !f.Left() {
		t.Error("did not leave")
	}
	if f, _ = frames(40, 10); f.Left() {
		t.Error("a new screen has left")
	}
	if f.Key("ctrl+d"); !f.Left() {
		t.Error("Ctrl-D does not leave")
	}
}

// A text beyond the limit is refused as a whole, and what was typed stays.
func TestTextsBeyondTheLimit(t *testing.T) {
	f, said := frames(60, 10)
	f.Type("keep")
	f.Send(tea.PasteMsg{Content: strings.Repeat("x", 10<<20)})
	if len(f.Printed) != 1 || !strings.Contains(f.Printed[0], "not inserted: a text of 10240 KiB; the limit is 1 KiB") {
		t.Errorf("%q", f.Printed)
	}
	f.Send(tea.PasteMsg{Content: strings.Repeat("y", 1020)})
	f.Key("enter")
	if len(*said) != 1 || (*said)[0] != "keep"+strings.Repeat("y", 1020) {
		t.Errorf("%d texts", len(*said))
	}
}

// Whatever the size, no frame is larger than the screen, and no line is lost.
func TestFramesFit(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	live := make([]string, 50)
	for i := range live {
		live[i] = fmt.Sprint("a line of some length that is cut on narrow screens ", i)
	}
	f, _ := frames(80, 24, live...)
	var want []string
	for i := range 300 {
		columns, rows := 10+random.IntN(110), 1+random.IntN(50)
		f.Send(tea.WindowSizeMsg{Width: columns, Height: rows})
		if i < 100 {
			f.Type("世 text ")
		}
		line := fmt.Sprint("said ", i)
		want = append(want, line)
		f.Print(line)
		lines := strings.Split(strings.TrimSuffix(f.String(), "\n"), "\n")
		if len(lines) > max(rows, 2) {
			t.Fatalf("%d lines on a screen of %d", len(lines), rows)
		}
		for _, l := range lines {
			if w := tty.Width(strings.ReplaceAll(l, "▏", "")); w > max(columns, 8) {
				t.Fatalf("%d columns on a screen of %d: %q", w, columns, l)
			}
		}
	}
	if strings.Join(f.Printed, "\n") != strings.Join(want, "\n") {
		t.Errorf("printed %d lines of %d", len(f.Printed), len(want))
	}
}

func TestWrapKeepsStyles(t *testing.T) {
	pen := tty.Pen{Color: true}
	got := tui.Wrap("ab世cd\n"+pen.Ink(tty.Bold, "xyz"), 3)
	want := []string{"ab", "世c", "d", "\x1b[1mxyz\x1b[0m"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q", got)
	}
}
