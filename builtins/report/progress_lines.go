package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/eval/trial"
)

// Lines writes a plain line of progress every so often: for logs and CI.
type Lines struct {
	mu   sync.Mutex
	w    io.Writer
	told trial.Progress // the last that was written
	last trial.Progress // the last that was sent
}

var _ Progress = (*Lines)(nil)

// A line is written when so much was done, or so much time passed, since the last.
const (
	lineShare = 10 // parts of the whole
	lineEvery = 10 * time.Second
)

// NewLines writes to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// Send writes a line if it is time for one; time is that of p.
func (l *Lines) Send(p trial.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = p
	further := p.Total > 0 && lineShare*p.Trials/p.Total > lineShare*l.told.Trials/p.Total
	if further || p.Elapsed-l.told.Elapsed >= lineEvery || p.Note != l.told.Note && p.Note != "" {
		l.tell()
	}
}

// Note writes a line of the program's own.
func (l *Lines) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.print(text)
}

// Close writes the last that was sent, if it says something new.
func (l *Lines) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Trials != l.told.Trials {
		l.tell()
	}
}

func (l *Lines) tell() {
	parts := []string{counted(&l.last)}
	for _, f := range progressFigures(&l.last) {
		parts = append(parts, f.text)
	}
	text := strings.Join(parts, ", ")
	if l.last.Note != "" {
		text += "; " + l.last.Note
	}
	l.told = l.last
	l.print(text)
}

// print drops errors: progress that nobody can read is no failure.
func (l *Lines) print(text string) { fmt.Fprintln(l.w, tty.Flat(text)) }
