package evalcmd

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/eval/batch"
)

func TestTrendsShowThePassRateOverTime(t *testing.T) {
	list := []batch.Summary{ // latest first
		{Suite: "a", Trials: 4, PassRate: 0.5},
		{Suite: "once", Trials: 4, PassRate: 1},
		{Suite: "a", Trials: 4, PassRate: 1},
		{Suite: "a", Problem: "broken"},
		{Suite: "a", Trials: 0},
		{Suite: "b\x1b", Trials: 1, PassRate: 0.2},
		{Suite: "b\x1b", Trials: 1, PassRate: 0},
		{Suite: "a", Trials: 4, PassRate: 0.99},
	}
	want := []string{
		"pass rate of a, oldest first: ██▅  99.0% to 50.0%",
		"pass rate of b␛, oldest first: ▁▂  0.0% to 20.0%",
	}
	if d := cmp.Diff(want, trends(list)); d != "" {
		t.Error(d)
	}
	if lines := trends(nil); lines != nil {
		t.Error(lines)
	}
}
