package logs

import (
	"context"
	"log/slog"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tracecontext"
)

// Run is the run of a line.
type Run struct {
	ID     string
	Tenant string
	Caller string // traceparent of who started it; "" = none
	// IsUnread says that the start of the run could not be read, so that lines have no trace.
	IsUnread bool
}

// attributes returns the keys of a line about what happens at a path of the run. kind is that of
// its span; the run's own stands for what has none.
func (r Run) attributes(kind, path string) []slog.Attr {
	out := []slog.Attr{slog.String("run_id", r.ID)}
	if r.Tenant != "" {
		out = append(out, slog.String("tenant", r.Tenant))
	}
	if path != "" {
		out = append(out, slog.String("path", path))
	}
	if r.IsUnread {
		return out
	}
	if kind == tracecontext.RunKind {
		path = ""
	}
	return append(out, spanAttributes(r.ID, r.Caller, kind, path)...)
}

// Error writes that the server could not do something with a run.
func Error(log *slog.Logger, r Run, doing string, err error) {
	log.LogAttrs(context.Background(), slog.LevelError, doing, append([]slog.Attr{slog.Any("error", err)}, r.attributes(tracecontext.RunKind, "")...)...)
}

// sink writes lines about one session of a run.
type sink struct {
	log      *slog.Logger
	run      Run
	replayed bool
	began    time.Time // zero = no event of this session has arrived
	isDebug  bool
}

var (
	_ engine.Sink       = (*sink)(nil)
	_ engine.ReplaySink = (*sink)(nil)
)

// Sink returns a sink that writes when a session of a run starts and ends, and the questions,
// guards and limits between; with level debug also calls and warnings. It returns nil if the
// log has no level for them.
func Sink(log *slog.Logger, r Run) engine.Sink {
	if log == nil || !log.Enabled(context.Background(), slog.LevelInfo) {
		return nil
	}
	return &sink{log: log, run: r, isDebug: log.Enabled(context.Background(), slog.LevelDebug)}
}

// Replay implements engine.ReplaySink.
func (s *sink) Replay(engine.Event) { s.replayed = true }

// Send implements engine.Sink.
func (s *sink) Send(ev engine.Event) {
	if s.began.IsZero() && !ev.Type.Transient() {
		s.began = time.Now()
		message := "run started"
		if s.replayed {
			message = "run continues"
		}
		s.line(slog.LevelInfo, message, tracecontext.RunKind, "")
	}
	switch ev.Type {
	case engine.RunCompleted:
		s.ended(&ev)
	case engine.RunSuspended:
		s.line(slog.LevelInfo, "run suspended", tracecontext.RunKind, "")
	case engine.InterruptRaised:
		s.line(slog.LevelInfo, "run waits for an answer", "ask", ev.Path, slog.String("kind", string(ev.Interrupt.Kind)))
	case engine.GuardFired:
		s.line(slog.LevelInfo, "guard fired", tracecontext.RunKind, ev.Path, slog.String("guard", ev.Guard.Name), slog.String("do", string(ev.Guard.Do)))
	case engine.LimitReached:
		s.line(slog.LevelInfo, "limit reached", tracecontext.RunKind, ev.Path, slog.String("stop_reason", string(ev.Stop.Code)))
	default:
		if s.isDebug {
			s.detail(&ev)
		}
	}
}

// detail writes what happens within a run. Arguments, replies and results are not part of it.
func (s *sink) detail(ev *engine.Event) {
	switch ev.Type { //nolint:exhaustive // the rest is in lines of the info level, or within these
	case engine.ModelCompleted:
		s.line(slog.LevelDebug, "model call completed", "model", ev.Path, slog.String("llm", ev.Model), slog.String("status", ev.Status), slog.Int64("duration_ms", ev.Duration))
	case engine.ToolCompleted:
		s.line(slog.LevelDebug, "tool call completed", "tool", ev.Path, slog.String("tool", ev.Tool), slog.String("status", ev.Status), slog.Int64("duration_ms", ev.Duration))
	case engine.Warning:
		s.line(slog.LevelDebug, "run warning", tracecontext.RunKind, ev.Path, slog.String("warning", ev.Text))
	}
}

func (s *sink) ended(ev *engine.Event) {
	attrs := []slog.Attr{slog.String("status", ev.Status)}
	if ev.Stop != nil {
		attrs = append(attrs, slog.String("stop_reason", string(ev.Stop.Code)))
	}
	attrs = append(attrs, slog.Duration("duration", time.Since(s.began)))
	if u := ev.Totals; u != nil {
		attrs = append(attrs, slog.Int("model_calls", u.ModelCalls), slog.Int("tool_calls", u.ToolCalls),
			slog.Int("input_tokens", u.Input), slog.Int("output_tokens", u.Output), slog.Float64("cost_usd", u.CostUSD))
	}
	level := slog.LevelInfo
	if ev.Status == string(stop.RunFailed) {
		level = slog.LevelWarn
	}
	s.line(level, "run ended", tracecontext.RunKind, "", attrs...)
}

// line writes a line; see Run.attributes.
func (s *sink) line(level slog.Level, message, kind, path string, attrs ...slog.Attr) {
	s.log.LogAttrs(context.Background(), level, message, append(s.run.attributes(kind, path), attrs...)...)
}
