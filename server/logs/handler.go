package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// New returns a log in a format, text or json. The error says that there is no such format.
func New(w io.Writer, format string, level slog.Level) (*slog.Logger, error) {
	o := &slog.HandlerOptions{Level: level}
	switch format {
	case "text":
		return slog.New(&handler{slog.NewTextHandler(w, o)}), nil
	case "json":
		return slog.New(&handler{slog.NewJSONHandler(w, o)}), nil
	}
	return nil, fmt.Errorf("unknown format %q; use text or json", format)
}

// handler adds what the context knows of a line, and masks what errors quote unless the log
// has the level debug.
type handler struct{ inner slog.Handler }

var _ slog.Handler = (*handler)(nil)

// Enabled implements slog.Handler.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.inner.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	isMasked := !h.inner.Enabled(ctx, slog.LevelDebug)
	seen := map[string]bool{}
	r.Attrs(func(a slog.Attr) bool {
		seen[a.Key] = true
		if isMasked {
			a = masked(a)
		}
		out.AddAttrs(a)
		return true
	})
	for _, a := range requestOf(ctx).attributes() {
		if !seen[a.Key] {
			out.AddAttrs(a)
		}
	}
	return h.inner.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.inner.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler { return &handler{h.inner.WithGroup(name)} }

// maxError is the maximum length of the text of an error, in characters.
const maxError = 300

// masked returns an attribute without what the text of an error quotes: a value of a client or
// of a reply. The rest is our own text and that of the system.
func masked(a slog.Attr) slog.Attr {
	said := ""
	switch err, ok := a.Value.Any().(error); {
	case ok:
		said = err.Error()
	case a.Key == "error" && a.Value.Kind() == slog.KindString:
		said = a.Value.String()
	default:
		return a
	}
	said, _, _ = strings.Cut(said, "\n")
	if said = quoted().ReplaceAllString(said, "${1}…"); len([]rune(said)) > maxError {
		said = string([]rune(said)[:maxError]) + "…"
	}
	return slog.String(a.Key, said)
}

// quoted matches what is in quotation marks, even if the closing one is missing. An apostrophe
// within a word is none.
var quoted = text.Regexp(`(^|[^\pL\pN])("(?:[^"\\]|\\.)*(?:"|\\?$)|'(?:[^'\\]|\\.)*(?:'|\\?$)|` + "`[^`]*(?:`|$))")
