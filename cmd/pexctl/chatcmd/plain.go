package chatcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/cmd/pexctl/internal/chat"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
)

// talkPlain reads a question, an answer or a slash command per line.
func talkPlain(ctx context.Context, c *ui.Call, o chat.Options) (*chat.Chat, error) {
	_, typed := ui.Terminal(c.Stdin)
	o.Screen, o.OneByOne = &lines{out: c.Stdout, err: c.Stderr, quiet: c.Quiet, prompts: typed}, true
	if !c.Quiet {
		o.Progress = func() engine.Sink { return progressLines{sink.NewLines(c.Stderr)} }
	}
	inputs := make(chan chat.Input)
	go readLines(ctx, c.Stdin, inputs)
	conversation := chat.New(o)
	return conversation, conversation.Run(ctx, inputs)
}

// readLines sends lines until their end. A line may have any length: the conversation refuses
// those that are too long.
func readLines(ctx context.Context, from io.Reader, to chan<- chat.Input) {
	defer close(to)
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			select {
			case to <- chat.Input{Text: strings.TrimRight(line, "\r\n")}:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// progressLines shows the progress of a run, but no questions: the conversation asks them.
type progressLines struct{ *sink.Lines }

// Send implements engine.Sink.
func (p progressLines) Send(e engine.Event) {
	if e.Type != engine.InterruptRaised {
		p.Lines.Send(e)
	}
}

// lines shows a conversation as plain lines: answers and the output of commands on stdout,
// everything else on stderr.
type lines struct {
	out, err io.Writer
	quiet    bool
	prompts  bool // a person types the lines
	ready    bool // the prompt was written
}

var _ chat.Screen = (*lines)(nil)

// Show implements chat.Screen.
func (l *lines) Show(e chat.Entry) {
	if e.Past {
		return
	}
	l.ready = false
	text := strings.TrimRight(e.Text, "\n") + "\n"
	switch e.Kind {
	case chat.Answer, chat.Output:
		_, _ = io.WriteString(l.out, text) // its Output keeps the error
	case chat.Problem:
		fmt.Fprint(l.err, "pexctl: "+text)
	case chat.Question:
		fmt.Fprint(l.err, text)
	case chat.Note:
		if !l.quiet {
			fmt.Fprint(l.err, text)
		}
	case chat.Said:
	}
}

// SetState implements chat.Screen.
func (l *lines) SetState(s chat.State) {
	if l.prompts && !l.ready && (s.Run == "" || s.Question != nil) {
		fmt.Fprint(l.err, "> ")
		l.ready = true
	}
}

// Edit implements chat.Screen.
func (l *lines) Edit(context.Context, string, string) (string, error) {
	return "", errors.New("there is no terminal for an editor; use edit:JSON")
}
