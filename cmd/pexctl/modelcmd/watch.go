package modelcmd

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/term"

	"github.com/pexctl/pex/builtins/probe"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// pingWatch shows the running checks on a terminal, and removes them at the end.
// A nil pingWatch shows nothing. It is safe for concurrent use.
type pingWatch struct {
	mu     sync.Mutex
	canvas *tty.Canvas
	lines  []pingLine
}

// pingLine is an LLM that is being checked.
type pingLine struct {
	name  string
	under []probe.Check
	done  []string
}

// newPingWatch draws on stderr if it is a terminal.
func newPingWatch(c *call) *pingWatch {
	f, ok := ui.Terminal(c.Stderr)
	if !ok || c.Tracing() {
		return nil
	}
	return &pingWatch{canvas: tty.NewCanvas(f, func() (columns, rows int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 80, 24
		}
		return columns, rows
	})}
}

func (w *pingWatch) began(llm string, check probe.Check) {
	w.change(llm, func(l *pingLine) { l.under = append(l.under, check) })
}

func (w *pingWatch) ended(llm string, f probe.Finding) {
	w.change(llm, func(l *pingLine) {
		l.under = slices.DeleteFunc(l.under, func(c probe.Check) bool { return c == f.Check })
		l.done = append(l.done, words(f.Check)+" "+string(f.Verdict))
	})
}

func (w *pingWatch) change(llm string, by func(*pingLine)) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.lines, func(l pingLine) bool { return l.name == llm })
	if i < 0 {
		i = len(w.lines)
		w.lines = append(w.lines, pingLine{name: llm})
	}
	by(&w.lines[i])
	w.draw()
}

func (w *pingWatch) draw() {
	var out []string
	for _, l := range w.lines {
		var under []string
		for _, c := range l.under {
			under = append(under, words(c))
		}
		parts := slices.Clone(l.done)
		if len(under) > 0 {
			parts = append(parts, "testing "+ui.List(under))
		}
		out = append(out, tty.OneLine(l.name+": "+cmp.Or(strings.Join(parts, " · "), "-"), w.canvas.Columns()))
	}
	w.canvas.Draw(nil, out[max(0, len(out)-w.canvas.Rows()):])
}

// close removes the display.
func (w *pingWatch) close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.canvas.Draw(nil, nil)
}
