package tui

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pexctl/pex/builtins/tty"
)

// Options configure a Screen.
type Options struct {
	In      io.Reader // a terminal
	Out     io.Writer // the same terminal
	Environ []string
	Pen     tty.Pen
	// Live returns the lines above the input that change: at most rows, of at most columns. It is
	// called several times a second while the screen is busy.
	Live func(columns, rows int) []string
	// Submit receives a text. Interrupt receives the text at Esc, which may be "". They must not
	// block.
	Submit, Interrupt func(text string)
	MaxText           int      // bytes of a text
	Commands          []string // which Tab completes
}

// Screen is a transcript with an input below it. Its methods are safe for concurrent use.
type Screen struct {
	o       Options
	program *tea.Program
	model   *model
}

// The messages of a Screen to its model.
type (
	printMsg   string
	printedMsg struct{}
	promptMsg  struct{ prompt, hint string }
	busyMsg    bool
	tickMsg    struct{}
	resizedMsg int
	quitMsg    struct{}
	execMsg    struct {
		cmd  *exec.Cmd
		done chan error
	}
)

// New returns a Screen.
func New(o Options) *Screen {
	m := &model{o: o, prompt: "› ", columns: defaultColumns, rows: defaultRows, printing: true}
	return &Screen{o: o, model: m, program: tea.NewProgram(m, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler())}
}

// The size of a terminal that does not say.
const (
	defaultColumns = 80
	defaultRows    = 24
)

// Run shows the screen until the person leaves, Quit is called or ctx ends. It restores the
// terminal.
func (s *Screen) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.Quit)()
	_, err := s.program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return nil
	}
	return err
}

// Columns returns the width of the terminal; 0 = not known yet.
func (s *Screen) Columns() int { return int(s.model.shown.Load()) }

// Print adds lines to the transcript.
func (s *Screen) Print(text string) { s.program.Send(printMsg(text)) }

// SetPrompt replaces the text before the input, and the one below it.
func (s *Screen) SetPrompt(prompt, hint string) { s.program.Send(promptMsg{prompt, hint}) }

// SetBusy says whether the live lines change.
func (s *Screen) SetBusy(busy bool) { s.program.Send(busyMsg(busy)) }

// Quit leaves the screen, once all lines are printed.
func (s *Screen) Quit() { s.program.Send(quitMsg{}) }

// Exec runs a command that uses the terminal.
func (s *Screen) Exec(ctx context.Context, cmd *exec.Cmd) error {
	done := make(chan error, 1)
	s.program.Send(execMsg{cmd, done})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// model is the state of a Screen.
type model struct {
	o             Options
	editor        Editor
	prompt, hint  string
	columns, rows int
	shown         atomic.Int64 // columns
	notice        string       // in place of the hint, until the next key
	leaving       bool         // the next Ctrl-C leaves
	busy, ticking bool

	pending  []string // lines to print
	printed  []string // the latest lines that were printed
	printing bool
	resizes  int
	stale    bool // the screen must be drawn again, since its size has changed
	quitting bool
}

var _ tea.Model = (*model)(nil)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m, m.resize(max(msg.Width, 1), max(msg.Height, 1))
	case resizedMsg:
		return m, m.redraw(int(msg))
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		m.leaving, m.notice = false, ""
		return m, m.insert(msg.Content)
	case promptMsg:
		m.prompt, m.hint = msg.prompt, msg.hint
	case busyMsg:
		m.busy = bool(msg)
		return m, m.tick()
	case tickMsg:
		m.ticking = false
		return m, m.tick()
	case printMsg:
		m.pending = append(m.pending, strings.Split(strings.TrimSuffix(string(msg), "\n"), "\n")...)
		return m, m.print()
	case printedMsg:
		m.printing = false
		if m.stale {
			return m, m.redraw(m.resizes)
		}
		return m, m.print()
	case quitMsg:
		m.quitting = true
		return m, m.print()
	case execMsg:
		return m, tea.ExecProcess(msg.cmd, func(err error) tea.Msg {
			msg.done <- err
			return nil
		})
	}
	return m, nil
}

// interval is the time between redraws of a busy screen.
const interval = 120 * time.Millisecond

func (m *model) tick() tea.Cmd {
	if !m.busy || m.ticking {
		return nil
	}
	m.ticking = true
	return tea.Tick(interval, func(time.Time) tea.Msg { return tickMsg{} })
}

// View implements tea.Model.
func (m *model) View() tea.View {
	if m.quitting && len(m.pending) == 0 {
		return tea.NewView("")
	}
	content, cursor := m.layout()
	v := tea.NewView(content)
	v.Cursor = cursor
	return v
}

// maxInputRows is the maximum height of the input.
const maxInputRows = 8

// layout returns the lines below the transcript, and the cursor.
func (m *model) layout() (string, *tea.Cursor) {
	prompt := tty.Safe(m.prompt)
	if tty.Width(prompt) > m.columns/2 {
		prompt = tty.OneLine(prompt, 2)
	}
	indent := tty.Width(prompt)
	input, x, y := m.editor.layout(max(m.columns-indent, 1), max(1, min(maxInputRows, m.rows-2)))
	below := m.hint
	if m.notice != "" {
		below = m.notice
	}
	var lines []string
	if room := m.rows - len(input) - 2; room > 0 && m.o.Live != nil {
		live := m.o.Live(m.columns, room)
		for _, line := range live[:min(room, len(live))] {
			lines = append(lines, m.fit(line))
		}
	}
	top := len(lines)
	for i, line := range input {
		if i == 0 {
			lines = append(lines, m.o.Pen.Ink(tty.Bold, prompt)+line)
			continue
		}
		lines = append(lines, strings.Repeat(" ", indent)+line)
	}
	if m.rows > len(input) {
		lines = append(lines, m.o.Pen.Ink(tty.Dim, tty.OneLine(below, m.columns)))
	}
	return strings.Join(lines, "\n"), tea.NewCursor(indent+x, top+y)
}
