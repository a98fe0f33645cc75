package sink_test

import (
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
)

// A Picture has the lines of a Tree, but the answer that is streamed, which its screen shows.
func TestPictureAndDraft(t *testing.T) {
	c := &clock{startTime}
	var remarks []string
	p := sink.NewPicture(c.now, false, func(s string) { remarks = append(remarks, s) })
	if lines := p.Lines(60, 10); lines != nil || p.Draft() != "" {
		t.Errorf("before the first event: %q", lines)
	}
	run := story{p}
	run.start("?")
	run.plan(1, "Read the log", "Sum it up")
	run.asks("reflect.1/model", "reflector", "")
	run.says("reflect.1/model", `{"steps": [], "result": "It was the`)
	if lines := strings.Join(p.Lines(60, 10), "\n"); !strings.Contains(lines, "reflector is answering") || strings.Contains(lines, "It was") {
		t.Error(lines)
	}
	if d := p.Draft(); d != "It was the" {
		t.Errorf("the draft is %q", d)
	}
	run.answered("reflect.1/model", "", 500)
	run.asks("final/model", "finalizer", "")
	long := "Line one.\n" + strings.Repeat("word ", 300)
	run.says("final/model", long)
	if d := p.Draft(); d != long {
		t.Errorf("the draft has %d of %d bytes", len(d), len(long))
	}
	for rows := range 8 {
		for _, columns := range []int{1, 20, 60} {
			lines := p.Lines(columns, rows)
			if len(lines) > max(rows, 0) {
				t.Errorf("%d lines in %d rows", len(lines), rows)
			}
			for _, l := range lines {
				if tty.Width(l) > max(columns, 30) { // the count of hidden lines has its width
					t.Errorf("%d columns: %q", columns, l)
				}
			}
		}
	}
	p.Send(engine.Event{Type: engine.Warning, Seq: 90, At: c.at, Text: "careful"})
	if strings.Join(remarks, "") != "warning: careful" {
		t.Errorf("%q", remarks)
	}
	p.Send(engine.Event{Type: engine.RunCompleted, Seq: 91, At: c.at, Status: "completed", Duration: 1500})
	if final := p.Final(60); p.Draft() != "" || !strings.HasPrefix(final[len(final)-1], "completed in 1.5s") {
		t.Errorf("%q", final)
	}
}
