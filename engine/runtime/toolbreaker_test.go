package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// TestBreakerOpensAfterFailures makes calls of one tool. Each letter of a row is a call:
// the service is unavailable (a), the tool fails (f) or succeeds (.), or a wait between
// calls (w: 29 s, W: 31 s). In the expected outcome, C is a call that was made and - one
// that was not.
func TestBreakerOpensAfterFailures(t *testing.T) {
	cases := []struct{ name, does, made string }{
		{"five failures in a row", "aaaaa..", "CCCCC--"},
		{"four", "aaaa..", "CCCCCC"},
		{"five, and not in a row", "aaaa.aaaa.", "CCCCCCCCCC"},
		{"failures of the tool itself do not count", "ffffffff", "CCCCCCCC"},
		{"and end a row", "aaaafaaaa.", "CCCCCCCCCC"},
		{"until its respite is over", "aaaaaw.W.", "CCCCCw-WC"},
		{"one failure more opens the next", "aaaaaWa.w.W..", "CCCCCWC-w-WCC"},
		{"a success ends it", "aaaaaW.aaaa.", "CCCCCWCCCCCC"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var step byte
			one := funcTool{tool.ReadEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
				switch step {
				case 'a':
					return nil, tool.Unavailable(errors.New("connection refused"))
				case 'f':
					return nil, errors.New("no such file")
				}
				return &tool.Output{Text: "fine"}, nil
			}}
			var made strings.Builder
			node := func(s engine.Scope) error {
				for i := range len(c.does) {
					step = c.does[i]
					if step|0x20 == 'w' {
						d := 29 * time.Second
						if step == 'W' {
							d = 31 * time.Second
						}
						if err := s.Sleep(fmt.Sprint("wait.", i), d); err != nil {
							return err
						}
						made.WriteByte(step)
						continue
					}
					rec, _, err := s.Tool(fmt.Sprint("tool.", i), engine.Invocation{Tool: "x"})
					if err != nil {
						return err
					}
					mark := "C"
					if strings.HasPrefix(rec.Text(), "x was not called: it failed") {
						mark = "-"
					}
					made.WriteString(mark)
				}
				return nil
			}
			j := &journal.Memory{RoundTrip: true}
			for range 2 { // and run again
				made.Reset()
				res := session(t, program(map[string]nodeFunc{"a": node}), engine.Host{Tools: []tool.Binding{named("x", one)}}, j, runtime.Options{Virtual: true})
				if diff := cmp.Diff(c.made, made.String()); diff != "" || res.Status != stop.RunCompleted {
					t.Errorf("%+v: %s", res.StopReason, diff)
				}
			}
		})
	}
}

// TestOneCallProbesAnOpenBreaker checks that concurrent calls are not made.
func TestOneCallProbesAnOpenBreaker(t *testing.T) {
	calls := 0
	one := funcTool{tool.ReadEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
		calls++
		return nil, tool.Unavailable(errors.New("connection refused"))
	}}
	var recs []tool.Record
	node := func(s engine.Scope) error {
		for i := range 5 {
			if _, _, err := s.Tool(fmt.Sprint("first.", i), engine.Invocation{Tool: "x"}); err != nil {
				return err
			}
		}
		if err := s.Sleep("wait", time.Minute); err != nil {
			return err
		}
		return callTool("x", 3, true, &recs)(s)
	}
	res := runs(program(map[string]nodeFunc{"a": node}), engine.Host{Tools: []tool.Binding{named("x", one)}})
	if res.Status != stop.RunCompleted || calls != 6 || !strings.Contains(recs[1].Text(), "until a trial call has finished") || !strings.Contains(recs[2].Text(), "connection refused") {
		t.Errorf("%+v, %d calls: %+v", res.StopReason, calls, recs)
	}
}
