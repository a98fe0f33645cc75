package serve

import (
	"context"
	"log/slog"
)

// debugHandler logs everything at level debug: what the protocol's library reports as an error
// is one of a client.
type debugHandler struct{ to slog.Handler }

var _ slog.Handler = debugHandler{}

// Enabled implements slog.Handler.
func (h debugHandler) Enabled(ctx context.Context, _ slog.Level) bool {
	return h.to.Enabled(ctx, slog.LevelDebug)
}

// Handle implements slog.Handler.
func (h debugHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelDebug
	return h.to.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h debugHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return debugHandler{h.to.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h debugHandler) WithGroup(name string) slog.Handler { return debugHandler{h.to.WithGroup(name)} }
