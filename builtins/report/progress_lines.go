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

// Lines writes a plain line of progress at intervals, for logs and CI.
type Lines struct {
	mu       sync.Mutex
	w        io.Writer
	lastLine trial.Progress // the last one written
	last     trial.Progress // the last one sent
}

var _ Progress = (*Lines)(nil)

// A line is written after a share of the trials, or an interval, since the last line.
const (
	lineShare = 10 // tenths of the total
	lineEvery = 10 * time.Second
)

// NewLines returns a Lines that writes to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// Send writes a line if it is due, based on the time in p.
func (l *Lines) Send(p trial.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = p
	further := p.Total > 0 && lineShare*p.Trials/p.Total > lineShare*l.lastLine.Trials/p.Total
	if further || p.Elapsed-l.lastLine.Elapsed >= lineEvery || p.Note != l.lastLine.Note && p.Note != "" {
		l.write()
	}
}

// Note writes a line of text.
func (l *Lines) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.print(text)
}

// Close writes the last progress sent, if it has not been written.
func (l *Lines) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Trials != l.lastLine.Trials {
		l.write()
	}
}

func (l *Lines) write() {
	parts := []string{countText(&l.last)}
	for _, f := range progressFigures(&l.last) {
		parts = append(parts, f.text)
	}
	text := strings.Join(parts, ", ")
	if l.last.Note != "" {
		text += "; " + l.last.Note
	}
	l.lastLine = l.last
	l.print(text)
}

// print ignores errors: a failure to show progress is not an error.
func (l *Lines) print(text string) { fmt.Fprintln(l.w, tty.Flat(text)) }
