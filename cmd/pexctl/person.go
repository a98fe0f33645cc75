package main

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
	"github.com/pexctl/pex/engine"
)

// person answers questions at the terminal where the run was started, one at a
// time.
type person struct {
	mu    sync.Mutex
	in    *bufio.Reader
	out   io.Writer
	pause func(func()) // lets the progress stand meanwhile
}

var _ engine.People = (*person)(nil)

// Ask shows what would happen, exactly, and reads one line; where it decides
// nothing it is asked for again. An end of input parks the run, and so does its
// end.
func (p *person) Ask(ctx context.Context, q engine.Question) (answer json.RawMessage, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pause(func() {
		p.show(q)
		var d engine.Decision
		if d, err = p.decision(ctx, q.Kind); err == nil {
			answer, err = json.Marshal(d)
		}
	})
	return answer, err
}

// decision reads lines until one answers the question.
func (p *person) decision(ctx context.Context, kind engine.InterruptKind) (engine.Decision, error) {
	for {
		line, err := p.line(ctx)
		if err != nil {
			return engine.Decision{}, err
		}
		d := engine.ParseDecision(line)
		wrong := unclear(kind, line, d)
		if wrong == "" {
			return d, nil
		}
		fmt.Fprint(p.out, "  "+tty.Safe(wrong)+"\n"+choices(kind))
	}
}

// unclear says why an answer does not decide a question of the kind.
func unclear(kind engine.InterruptKind, line string, d engine.Decision) string {
	switch kind {
	case engine.AskApproval, engine.AskPlan, engine.AskGuard:
	default:
		return "" // any text is an answer
	}
	switch {
	case d.Do == "edit" && kind == engine.AskGuard:
		return "there is nothing to edit"
	case d.Do != "text":
		return ""
	case strings.TrimSpace(line) == "":
		return "an answer is needed; the end of input leaves the question open"
	case strings.HasPrefix(strings.TrimSpace(strings.ToLower(line)), "edit:"):
		return "what follows edit: is not JSON"
	default:
		return fmt.Sprintf("%q is none of the answers", line)
	}
}

func (p *person) show(q engine.Question) {
	text := "\n" + tty.Safe(q.Question) + "\n"
	if q.Tool != "" {
		text += "  " + tty.Safe(q.Tool) + "\n"
	}
	if steps := plan(q); steps != "" {
		text += steps
	} else if len(q.Args) > 0 {
		text += "  " + tty.Safe(string(q.Args)) + "\n"
	}
	fmt.Fprint(p.out, text+choices(q.Kind))
}

// plan lists the steps of a plan to approve; "" = it is none, or more than ids
// and goals are at stake.
func plan(q engine.Question) string {
	var p struct {
		Steps []struct {
			ID   string `json:"id"`
			Goal string `json:"goal"`
		} `json:"steps"`
	}
	d := json.NewDecoder(bytes.NewReader(q.Args))
	d.DisallowUnknownFields()
	if q.Kind != engine.AskPlan || d.Decode(&p) != nil {
		return ""
	}
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "  %s %s\n", tty.Safe(s.ID), strings.ReplaceAll(tty.Safe(s.Goal), "\n", "\n    "))
	}
	return b.String()
}

// line waits for a line or for the end of the run. Who is waited for in vain
// keeps the terminal: the process is about to end.
func (p *person) line(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		line, err := p.in.ReadString('\n')
		done <- read{strings.TrimRight(line, "\r\n"), err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		fmt.Fprintln(p.out)
		return "", ctx.Err()
	}
}

func choices(kind engine.InterruptKind) string {
	switch kind {
	case engine.AskHuman, engine.AskUser:
		return "answer: "
	case engine.AskGuard:
		return "approve | deny[:why]  > "
	default:
		return "approve | deny[:why] | edit:<json>  > "
	}
}
