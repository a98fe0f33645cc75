package tty

import (
	"bytes"
	"io"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/text"
)

// Writer writes untrusted text: from models, tools, files and names. It escapes control
// characters as Safe does, and breaks up the workflow commands that CI runners read from
// a log. It is safe for concurrent use.
type Writer struct {
	w        io.Writer
	commands bool // break up workflow commands

	mu   sync.Mutex
	rest []byte // end of the last write: an incomplete character, or a \r
	line lineState
}

// NewWriter returns a Writer that writes to w. ci reports whether a CI runner reads the
// output.
func NewWriter(w io.Writer, ci bool) *Writer { return &Writer{w: w, commands: ci} }

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) { return w.write(b, nil) }

// stylePattern matches the sequences that set colors and weights.
var stylePattern = text.Regexp(`^\x1b\[[0-9;]*m`)

// WriteStyled is Write for text with styles of a Pen: it does not escape sequences that
// set colors and weights.
func (w *Writer) WriteStyled(b []byte) (int, error) { return w.write(b, stylePattern()) }

// WriteVerbatim writes bytes unchanged.
func (w *Writer) WriteVerbatim(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.flush(); err != nil {
		return 0, err
	}
	if len(b) > 0 {
		w.line = lineState{inside: b[len(b)-1] != '\n'}
	}
	return w.w.Write(b)
}

func (w *Writer) write(b []byte, pass *regexp.Regexp) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	in := b
	if len(w.rest) > 0 {
		in = append(w.rest, b...)
		w.rest = nil
	}
	out := make([]byte, 0, len(in)+len(in)/16)
	for len(in) > 0 {
		if pass != nil && in[0] == 0x1b {
			if seq := pass.Find(in); seq != nil {
				out, in = append(out, seq...), in[len(seq):]
				continue
			}
		}
		if in[0] == '\r' && len(in) == 1 || !utf8.FullRune(in) {
			w.rest = bytes.Clone(in)
			break
		}
		if bytes.HasPrefix(in, []byte("\r\n")) {
			in = in[1:]
		}
		r, size := utf8.DecodeRune(in)
		in = in[size:]
		r = replacement(r)
		if w.commands && w.line.next(r) {
			out = append(out, ' ')
		}
		out = utf8.AppendRune(out, r)
	}
	if _, err := w.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes an incomplete character at the end of the last write.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.flush()
}

func (w *Writer) flush() error {
	if len(w.rest) == 0 {
		return nil
	}
	text := Safe(string(w.rest))
	w.rest = nil
	_, err := io.WriteString(w.w, text)
	return err
}
