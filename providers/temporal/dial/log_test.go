package dial_test

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/log"

	"github.com/pexctl/pex/providers/temporal/dial"
)

func TestTheLogHasNoContentOfRuns(t *testing.T) {
	lines := func(level slog.Level) string {
		var b bytes.Buffer
		h := slog.NewTextHandler(&b, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})
		l := dial.Logger(slog.New(h))
		l.Warn("Failed to poll for task.", "Namespace", "agents", "Error", errors.New("connection refused"))
		l.Info("Result is too large.", "Result", "the prompt", "Attempt", 2)
		run := log.With(l, "WorkflowID", "pex/t/r", "Input", "the prompt")
		run.Error("Activity error.", "ActivityType", "pex.Do", "Error", errors.New("the prompt was refused"))
		run.Error("Workflow panic", "PanicStack", "goroutine 1", "Odd")
		run.Debug("Unused.")
		return b.String()
	}
	const want = `level=WARN msg="temporal: Failed to poll for task." namespace=agents error="connection refused"
level=ERROR msg="temporal: Activity error." workflow_id=pex/t/r activity_type=pex.Do error_type=*errors.errorString
level=ERROR msg="temporal: Workflow panic" workflow_id=pex/t/r stack="goroutine 1"
`
	if diff := cmp.Diff(want, lines(slog.LevelInfo)); diff != "" {
		t.Error(diff)
	}
	if debug := lines(slog.LevelDebug); !bytes.Contains([]byte(debug), []byte("the prompt was refused")) {
		t.Errorf("level debug: %s", debug)
	}
	dial.Logger(nil).Error("nothing")
}
