package storecmd

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// A check that crashes or prints anything but a result counts as damage.
func TestCrashOfTheMemoryCheckIsReported(t *testing.T) {
	for _, name := range []string{"false", "true"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skip(err)
		}
		if _, err := memoryInProcess(t.Context(), path, t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), "the check crashed: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAgesAreDurationsOrDays(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 720 * time.Hour, "0.5d": 12 * time.Hour, "90m": 90 * time.Minute, "1h30m": 90 * time.Minute, "0s": 0, "0d": 0,
	} {
		if got, err := ui.ParseAge(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "30", "-1d", "-1h", "1w", "9999999999d", "NaNd", "Infd"} {
		if got, err := ui.ParseAge(text); err == nil {
			t.Errorf("%q was taken: %v", text, got)
		}
	}
}
