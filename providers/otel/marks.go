package otel

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Mark is the last event of a run whose spans a collector has. Spans of later events are
// exported by the next session if this one is killed before it exports them.
type Mark struct {
	Rewinds int `json:"rewinds,omitempty"` // see engine.Event
	Seq     int `json:"seq"`
}

// before reports whether an event is later.
func (m Mark) before(o Mark) bool {
	return m.Rewinds < o.Rewinds || m.Rewinds == o.Rewinds && m.Seq < o.Seq
}

// Marks stores the marks of unfinished runs. It must be safe for concurrent use. A mark that
// is lost costs spans, or exports them twice; a run does not depend on it.
type Marks interface {
	// Load returns the mark of a run. found is false if there is none.
	Load(run string) (m Mark, found bool)
	Store(run string, m Mark)
	Remove(run string)
}

// FileMarks stores marks in a folder, one file per run.
type FileMarks struct{ Dir string }

var _ Marks = FileMarks{}

func (f FileMarks) path(run string) string { return filepath.Join(f.Dir, run+".json") }

// Load implements Marks.
func (f FileMarks) Load(run string) (m Mark, found bool) {
	b, err := os.ReadFile(f.path(run))
	return m, err == nil && json.Unmarshal(b, &m) == nil
}

// Store implements Marks. It replaces the file, so that no reader sees a part of it.
func (f FileMarks) Store(run string, m Mark) {
	b, err := json.Marshal(m)
	if err != nil {
		return
	}
	temporary := f.path(run) + ".new"
	err = os.WriteFile(temporary, b, 0o600)
	if errors.Is(err, os.ErrNotExist) && os.MkdirAll(f.Dir, 0o700) == nil {
		err = os.WriteFile(temporary, b, 0o600)
	}
	if err == nil {
		_ = os.Rename(temporary, f.path(run))
	}
}

// Remove implements Marks.
func (f FileMarks) Remove(run string) { _ = os.Remove(f.path(run)) }

// marking is an exporter that stores the marks of what it has exported.
type marking struct {
	sdktrace.SpanExporter
	t *Telemetry
}

// ExportSpans implements sdktrace.SpanExporter.
func (m marking) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := m.SpanExporter.ExportSpans(ctx, spans); err != nil {
		return err
	}
	last := map[string]Mark{}
	for _, s := range spans {
		run, mark := markOf(s.Attributes())
		if last[run].before(mark) {
			last[run] = mark
		}
	}
	for run, mark := range last {
		m.t.exported(run, mark)
	}
	return nil
}

// markOf returns the run of a span, and the event that ended it.
func markOf(attrs []attribute.KeyValue) (run string, m Mark) {
	for _, a := range attrs {
		switch a.Key {
		case runID:
			run = a.Value.AsString()
		case evalTrials: // the span of an evaluation, which has one
			m.Seq = 1
		case evalID:
			if run == "" {
				run = a.Value.AsString()
			}
		case eventSeq:
			m.Seq = int(a.Value.AsInt64())
		case eventRewinds:
			m.Rewinds = int(a.Value.AsInt64())
		}
	}
	return run, m
}

// watched is a run of this process whose spans are exported.
type watched struct {
	marks   Marks
	exports Mark // its last span
	ended   bool
}

// watch returns the mark of a run.
func (t *Telemetry) watch(run string, marks Marks) (m Mark, found bool) {
	m, found = marks.Load(run)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.runs[run] = &watched{marks: marks}
	return m, found
}

// begin stores the mark of a run that has none: the last event of earlier sessions, which
// exported all they saw.
func (t *Telemetry) begin(run string, last Mark) {
	t.mu.Lock()
	w := t.runs[run]
	t.mu.Unlock()
	if w != nil {
		w.marks.Store(run, last)
	}
}

// ending notes the last span of a run, or of this process's part of it.
func (t *Telemetry) ending(run string, last Mark, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.runs[run]
	if w == nil {
		return
	}
	w.exports, w.ended = last, ended
	if ended {
		t.ended = append(t.ended, run)
		t.forgetOld()
	}
}

// maxEnded is how many ended runs may wait for the collector. Each has at least two spans, so the
// queue of spans (2,048 by default) has dropped those of older runs.
const maxEnded = 2048

// forgetOld removes the marks of the oldest ended runs that a collector has not accepted. The
// caller holds mu.
func (t *Telemetry) forgetOld() {
	if len(t.ended) <= 2*maxEnded {
		return
	}
	old := t.ended[:len(t.ended)-maxEnded]
	for _, run := range old {
		if w := t.runs[run]; w != nil && w.ended {
			w.marks.Remove(run)
			delete(t.runs, run)
		}
	}
	t.ended = append([]string(nil), t.ended[len(old):]...)
}

// exported stores what was exported of a run, and forgets the run once that is all.
func (t *Telemetry) exported(run string, m Mark) {
	t.mu.Lock()
	w := t.runs[run]
	done := w != nil && w.exports != Mark{} && !m.before(w.exports)
	if done {
		delete(t.runs, run)
	}
	t.mu.Unlock()
	switch {
	case w == nil:
	case done && w.ended:
		w.marks.Remove(run)
	default:
		w.marks.Store(run, m)
	}
}

// forgetEnded removes the marks of runs that have ended, whose spans no session will export.
func (t *Telemetry) forgetEnded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for run, w := range t.runs {
		if w.ended {
			w.marks.Remove(run)
			delete(t.runs, run)
		}
	}
}
