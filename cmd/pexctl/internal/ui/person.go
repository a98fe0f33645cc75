package ui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
)

// Person answers questions at the terminal where the run was started, one at a
// time.
type Person struct {
	mu    sync.Mutex
	In    *bufio.Reader
	Out   io.Writer
	Pause func(func()) // lets the progress stand meanwhile
}

var _ interrupt.People = (*Person)(nil)

// Ask shows what would happen, exactly, and reads one line; where it decides
// nothing it is asked for again. An end of input parks the run, and so does its
// end.
func (p *Person) Ask(ctx context.Context, q interrupt.Question) (answer json.RawMessage, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Pause(func() {
		p.show(q)
		var d interrupt.Decision
		if d, err = p.decision(ctx, q.Kind); err == nil {
			answer, err = json.Marshal(d)
		}
	})
	return answer, err
}

// decision reads lines until one answers the question.
func (p *Person) decision(ctx context.Context, kind interrupt.Kind) (interrupt.Decision, error) {
	for {
		line, err := p.Line(ctx)
		if err != nil {
			return interrupt.Decision{}, err
		}
		d, wrong := runs.ParseDecision(kind, line)
		if wrong == "" {
			return d, nil
		}
		fmt.Fprint(p.Out, "  "+tty.Safe(wrong)+"\n"+choices(kind))
	}
}

func (p *Person) show(q interrupt.Question) {
	text := "\n" + tty.Safe(q.Question) + "\n"
	if q.Tool != "" {
		text += "  " + tty.Safe(q.Tool) + "\n"
	}
	if steps := planChoice(q); steps != "" {
		text += steps
	} else if len(q.Args) > 0 {
		text += "  " + tty.Safe(string(q.Args)) + "\n"
	}
	fmt.Fprint(p.Out, text+choices(q.Kind))
}

// planChoice lists the steps of a plan to approve; "" = it is none, or more than ids
// and goals are at stake.
func planChoice(q interrupt.Question) string {
	var p struct {
		Steps []struct {
			ID   string `json:"id"`
			Goal string `json:"goal"`
		} `json:"steps"`
	}
	d := json.NewDecoder(bytes.NewReader(q.Args))
	d.DisallowUnknownFields()
	if q.Kind != interrupt.Plan || d.Decode(&p) != nil {
		return ""
	}
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "  %s %s\n", tty.Safe(s.ID), strings.ReplaceAll(tty.Safe(s.Goal), "\n", "\n    "))
	}
	return b.String()
}

// Line waits for a line or for the end of the run. Who is waited for in vain
// keeps the terminal: the process is about to end.
func (p *Person) Line(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := p.In.ReadString('\n')
		done <- read{strings.TrimRight(line, "\r\n"), err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		fmt.Fprintln(p.Out)
		return "", ctx.Err()
	}
}

// choices is the prompt for the answer to a question of a kind.
func choices(kind interrupt.Kind) string {
	if all := runs.Choices(kind); all != "" {
		return all + "  > "
	}
	return "answer: "
}
