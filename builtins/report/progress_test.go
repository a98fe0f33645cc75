package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/builtins/tty/ttytest"
	"github.com/pexctl/pex/eval/trial"
)

// halfway returns the progress of a mostly successful evaluation.
func halfway() trial.Progress {
	return trial.Progress{
		Trials: 312, Total: 600, Passed: 265, Failed: 43, Error: 4, InFlight: 8, Cost: 0.2111, Tokens: 312_400,
		Elapsed: 26 * time.Second, Left: 24 * time.Second, Rate: 12.31,
	}
}

func TestLiveDrawsInPlace(t *testing.T) {
	s := ttytest.New(t, 100, 24)
	live := report.NewLive(s, s.Size, "shop-questions", true)
	live.Note("resumed: 100 trials are done")
	live.Send(trial.Progress{Total: 600})
	live.Send(halfway())
	live.Note("waiting: rate limit\n")
	last := halfway()
	last.Note = "curtailed 12"
	live.Send(last)
	live.Close()
	live.Send(trial.Progress{Total: 600})
	live.Note("report.html is written")
	want := `
resumed: 100 trials are done
waiting: rate limit
shop-questions  ████████████████████░░░░░░░░░░░░░░░░░░░░  312/600 trials (52%)
  86.0% passed · 43 failed · 4 errors · 24.0s left · $0.2111 · 12.3/s · 8 in flight · 312.4k tokens
  curtailed 12
report.html is written
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), s.String()); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}

func TestLiveNeverWrapsALine(t *testing.T) {
	for _, columns := range []int{1, 20, 30, 40, 60, 80, 300} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			s := ttytest.New(t, columns, 24)
			live := report.NewLive(s, s.Size, strings.Repeat("日本語 ", 30), true)
			p := halfway()
			p.Note = strings.Repeat("\x1b[31m long", 50)
			live.Send(p)
			live.Send(p)
			if columns >= 20 { // on narrower screens, only redrawn lines are kept on their lines
				live.Close()
			}
			if s.Height() != 3 {
				t.Errorf("%d lines:\n%s", s.Height(), s)
			}
		})
	}
}

func TestLiveWithoutATotalHasNoBar(t *testing.T) {
	s := ttytest.New(t, 80, 24)
	live := report.NewLive(s, s.Size, "shop", false)
	live.Send(trial.Progress{Trials: 7, Passed: 7, InFlight: 2})
	live.Close()
	if diff := cmp.Diff("shop  7 trials\n  100.0% passed · 2 in flight\n", s.String()); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}

func TestLinesAreWrittenEveryTenthAndEveryTenSeconds(t *testing.T) {
	var b strings.Builder
	lines := report.NewLines(&b)
	for i := range 41 { // a trial every half second up to 400, then faster ones
		lines.Send(trial.Progress{Trials: i, Total: 400, Passed: i, Elapsed: time.Duration(i) * time.Second / 2})
	}
	for i := 41; i <= 130; i++ {
		lines.Send(trial.Progress{Trials: i, Total: 400, Passed: i, Elapsed: 21 * time.Second})
	}
	lines.Note("a note\x1b[2J of\nours")
	lines.Close()
	lines.Close()
	want := `
20/400 trials (5%), 100.0% passed, 10.0s
40/400 trials (10%), 100.0% passed, 20.0s
80/400 trials (20%), 100.0% passed, 21.0s
120/400 trials (30%), 100.0% passed, 21.0s
a note␛[2J of ours
130/400 trials (32%), 100.0% passed, 21.0s
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), b.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestLinesShowWhatIsWaitedFor(t *testing.T) {
	var b strings.Builder
	lines := report.NewLines(&b)
	p := halfway()
	lines.Send(p)
	p.Note = "waiting: rate limit"
	lines.Send(p)
	lines.Send(p)
	want := `
312/600 trials (52%), 86.0% passed, 43 failed, 4 errors, 24.0s left, $0.2111, 12.3/s, 8 in flight, 312.4k tokens, 26.0s
312/600 trials (52%), 86.0% passed, 43 failed, 4 errors, 24.0s left, $0.2111, 12.3/s, 8 in flight, 312.4k tokens, 26.0s; waiting: rate limit
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), b.String()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
