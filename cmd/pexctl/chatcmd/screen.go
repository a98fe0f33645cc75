package chatcmd

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/builtins/tui"
	"github.com/pexctl/pex/cmd/pexctl/internal/chat"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/text"
)

// screen shows a conversation on a terminal: the transcript, the run under way, and the input.
type screen struct {
	tui    *tui.Screen
	pen    tty.Pen
	agent  string
	inputs chan chat.Input

	mu      sync.Mutex
	picture *sink.Picture // of the turn under way; nil = none
}

var _ chat.Screen = (*screen)(nil)

// terminals returns the terminal of the input and that of the output, if both are one that can be
// redrawn.
func terminals(c *ui.Call) (in, out *os.File, ok bool) {
	in, isIn := ui.Terminal(c.Stdin)
	out, isOut := ui.Terminal(c.Stdout)
	return in, out, isIn && isOut && os.Getenv("TERM") != "dumb" && !c.Quiet && !c.Tracing()
}

// talkScreen continues the conversation on a terminal.
func talkScreen(ctx context.Context, c *ui.Call, o chat.Options, log *logWriter) (*chat.Chat, error) {
	in, out, _ := terminals(c)
	const waitingInputs = 64
	s := &screen{pen: tty.Pen{Color: ui.UsesColor(c.Stdout)}, agent: o.Agent, inputs: make(chan chat.Input, waitingInputs)}
	s.tui = tui.New(tui.Options{
		In: in, Out: out, Environ: os.Environ(), Pen: s.pen, Live: s.live, MaxText: chat.MaxQuestion, Commands: chat.Commands(),
		Submit:    func(text string) { s.input(chat.Input{Text: text}) },
		Interrupt: func(text string) { s.input(chat.Input{Text: text, Interrupt: true}) },
	})
	o.Screen, o.Progress = s, s.progress
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conversation := chat.New(o)
	talked := make(chan error, 1)
	go func() {
		log.redirect(s)
		s.tui.Print(s.pen.Ink(tty.Dim, tty.Flat("Talking to "+o.Agent+". /help lists the commands; Ctrl-C twice leaves.")))
		err := conversation.Run(ctx, s.inputs)
		s.tui.Quit()
		talked <- err
	}()
	err := s.tui.Run(ctx)
	log.redirect(c.Stderr)
	stop()
	if e := <-talked; err == nil && ctx.Err() == nil {
		err = e
	}
	return conversation, err
}

// input passes on what the person does. The conversation may be busy with an earlier input.
func (s *screen) input(in chat.Input) {
	select {
	case s.inputs <- in:
	default:
		s.print(tty.Red, "", "not sent: too many inputs wait for the server; it is in the history (↑)")
	}
}

// Write shows the log of the server within the process.
func (s *screen) Write(b []byte) (int, error) {
	go s.print(tty.Red, "", string(b)) // the caller may be the input
	return len(b), nil
}

// progress returns the sink of a new turn.
func (s *screen) progress() engine.Sink {
	p := sink.NewPicture(time.Now, s.pen.Color, func(remark string) { s.print(tty.Yellow, "", remark) })
	s.mu.Lock()
	s.picture = p
	s.mu.Unlock()
	return &turnSink{p, s}
}

// turnSink draws a turn, and moves it to the transcript when it ends.
type turnSink struct {
	*sink.Picture
	screen *screen
}

// Send implements engine.Sink.
func (t *turnSink) Send(e engine.Event) {
	t.Picture.Send(e)
	if e.Type == engine.RunCompleted && e.Agent == "" {
		t.screen.finish(t.Picture)
	}
}

// finalColumns is the width of the picture of a turn that has ended: the terminal may be narrower
// later.
const finalColumns = 100

// finish moves the picture of a turn to the transcript.
func (s *screen) finish(p *sink.Picture) {
	s.mu.Lock()
	if s.picture == p {
		s.picture = nil
	}
	s.mu.Unlock()
	columns := finalColumns
	if n := s.tui.Columns(); n > 0 {
		columns = min(columns, n)
	}
	s.tui.Print(strings.Join(p.Final(columns), "\n"))
}

// live returns the picture of the turn under way, and the end of the answer that is streamed.
func (s *screen) live(columns, rows int) []string {
	s.mu.Lock()
	p := s.picture
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	draft := strings.TrimSpace(tty.Safe(p.Draft()))
	if draft == "" {
		return p.Lines(columns, rows)
	}
	answer := tui.Wrap(draft, columns)
	answer = answer[max(0, len(answer)-max(rows/2, 1)):]
	return slices.Concat(p.Lines(columns, rows-len(answer)), answer)
}

// Show implements chat.Screen.
func (s *screen) Show(e chat.Entry) {
	switch e.Kind {
	case chat.Said:
		s.print(tty.Bold, "› ", e.Text)
	case chat.Answer:
		s.print("", "", "\n"+strings.Trim(e.Text, "\n")+"\n\n")
	case chat.Question:
		s.print(tty.Yellow, "", e.Text)
	case chat.Output:
		s.print("", "", e.Text)
	case chat.Note:
		s.print(tty.Dim, "", e.Text)
	case chat.Problem:
		s.print(tty.Red, "", e.Text)
	}
}

// print adds a text to the transcript, escaped, line by line in a style.
func (s *screen) print(ink tty.Ink, mark, body string) {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(tty.Safe(body), "\n"), "\n") {
		if i > 0 {
			mark = strings.Repeat(" ", tty.Width(mark))
		}
		b.WriteString(s.pen.Ink(ink, mark+strings.ReplaceAll(line, "\t", "    ")) + "\n")
	}
	s.tui.Print(b.String())
}

// SetState implements chat.Screen.
func (s *screen) SetState(st chat.State) {
	prompt, hint := "› ", "Enter sends · Alt-Enter new line · /help"
	switch {
	case st.Interrupting:
		prompt, hint = "interrupt › ", "The next text interrupts the model call under way · Esc takes that back"
	case st.Question != nil:
		prompt, hint = "answer › ", chat.Choices(st.Question.Kind)+" · !TEXT is a message to the run"
	case st.Run != "":
		prompt, hint = "message › ", "A text is a message to the run · Esc interrupts · Ctrl-C twice leaves"
	}
	if len(st.Files) > 0 {
		hint += " · files: " + text.List(st.Files)
	}
	s.tui.SetPrompt(prompt, hint)
	s.tui.SetBusy(st.Run != "")
	if st.Run == "" && st.Question == nil {
		s.mu.Lock()
		s.picture = nil
		s.mu.Unlock()
	}
}
