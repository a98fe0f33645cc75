package dial

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"go.temporal.io/sdk/log"
)

// attributeName returns our name of an attribute of the SDK's log that says what a line is about.
// All other attributes may have content of runs.
func attributeName(key string) (string, bool) {
	i := slices.IndexFunc(attributeNames[:], func(n [2]string) bool { return n[0] == key })
	if i < 0 {
		return "", false
	}
	return attributeNames[i][1], true
}

// attributeNames are the SDK's names and ours.
var attributeNames = [...][2]string{
	{"Namespace", "namespace"},
	{"TaskQueue", "task_queue"},
	{"WorkerID", "worker_id"},
	{"WorkerType", "worker_type"},
	{"BuildID", "build_id"},
	{"WorkflowType", "workflow_type"},
	{"WorkflowID", "workflow_id"},
	{"RunID", "workflow_run_id"},
	{"ActivityType", "activity_type"},
	{"ActivityID", "activity_id"},
	{"Attempt", "attempt"},
	{"EventID", "event_id"},
	{"EventType", "event_type"},
	{"UpdateName", "update"},
	{"QueryType", "query"},
	{"PayloadSize", "payload_size"},
	{"PayloadSizeLimit", "payload_size_limit"},
	{"StackTrace", "stack"},
	{"PanicStack", "stack"},
}

// logger writes the log of the SDK, and nothing of the content of runs unless its level is debug.
type logger struct {
	to    *slog.Logger
	ofRun bool // With had the workflow or activity of a run
}

var _ log.WithLogger = logger{}

// Logger returns the log of an SDK client and of its workers; nil writes nothing. Lines name
// workflows, activities and queues. Errors of workflows and activities may quote prompts and
// results, so only their types are written unless to has the level debug.
func Logger(to *slog.Logger) log.Logger {
	if to == nil {
		to = slog.New(slog.DiscardHandler)
	}
	return logger{to: to}
}

// Debug writes a line.
func (l logger) Debug(msg string, keyvals ...any) { l.write(slog.LevelDebug, msg, keyvals) }

// Info writes a line of level debug: those of the SDK are about its parts, not about runs.
func (l logger) Info(msg string, keyvals ...any) { l.write(slog.LevelDebug, msg, keyvals) }

// Warn writes a line.
func (l logger) Warn(msg string, keyvals ...any) { l.write(slog.LevelWarn, msg, keyvals) }

// Error writes a line.
func (l logger) Error(msg string, keyvals ...any) { l.write(slog.LevelError, msg, keyvals) }

// With returns a logger whose lines have these attributes.
func (l logger) With(keyvals ...any) log.Logger {
	ofRun := l.ofRun || isOfRun(keyvals)
	return logger{to: l.to.With(l.attributes(ofRun, keyvals)...), ofRun: ofRun}
}

func (l logger) write(level slog.Level, msg string, keyvals []any) {
	if ctx := context.Background(); l.to.Enabled(ctx, level) {
		l.to.Log(ctx, level, "temporal: "+msg, l.attributes(l.ofRun || isOfRun(keyvals), keyvals)...)
	}
}

// attributes returns the attributes that may be written.
func (l logger) attributes(ofRun bool, keyvals []any) (out []any) {
	debug := l.to.Enabled(context.Background(), slog.LevelDebug)
	for pair := range slices.Chunk(keyvals, 2) {
		key, ok := pair[0].(string)
		if !ok || len(pair) < 2 {
			continue
		}
		name, known := attributeName(key)
		switch isError := key == "Error" || key == "PanicError"; {
		case known:
			out = append(out, slog.Any(name, pair[1]))
		case isError && ofRun && !debug:
			out = append(out, slog.String("error_type", fmt.Sprintf("%T", pair[1])))
		case isError:
			out = append(out, slog.Any("error", pair[1]))
		case debug:
			out = append(out, slog.Any(key, pair[1]))
		}
	}
	return out
}

// isOfRun reports whether attributes name a workflow or an activity.
func isOfRun(keyvals []any) bool {
	for pair := range slices.Chunk(keyvals, 2) {
		if pair[0] == "WorkflowID" || pair[0] == "ActivityType" || pair[0] == "ActivityID" || pair[0] == "WorkflowType" {
			return true
		}
	}
	return false
}
