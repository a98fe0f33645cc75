package ui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
)

// Person asks questions at the terminal on which the run was started, one at a
// time.
type Person struct {
	mu    sync.Mutex
	In    *bufio.Reader
	Out   io.Writer
	Pause func(func()) // draws the progress once and stops redrawing while the function runs
}

var _ interrupt.Responder = (*Person)(nil)

// Ask shows the question with the exact arguments and reads lines until one is a valid
// answer. At the end of input, or when ctx ends, the question stays open.
func (p *Person) Ask(ctx context.Context, q interrupt.Question) (answer json.RawMessage, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Pause(func() {
		p.show(q)
		var d interrupt.Decision
		if d, err = p.decision(ctx, &q); err == nil {
			answer, err = json.Marshal(d)
		}
	})
	return answer, err
}

// decision reads lines until one is a valid answer to the question.
func (p *Person) decision(ctx context.Context, q *interrupt.Question) (interrupt.Decision, error) {
	for {
		line, err := p.Line(ctx)
		if err != nil {
			return interrupt.Decision{}, err
		}
		d, wrong := runs.ParseDecision(q.Kind, line)
		if wrong == "" {
			err := q.Permit(interrupt.Actor{}, d.Do)
			if err == nil {
				return d, nil
			}
			wrong = err.Error()
			if no, ok := errors.AsType[*interrupt.NotApproverError](err); ok {
				wrong = no.Reason
			}
		}
		fmt.Fprint(p.Out, "  "+tty.Safe(wrong)+"\n"+choices(q.Kind))
	}
}

func (p *Person) show(q interrupt.Question) {
	fmt.Fprint(p.Out, "\n"+QuestionText(q)+choices(q.Kind))
}

// QuestionText returns what a question is about, with the exact arguments or the plan, escaped for
// a terminal.
func QuestionText(q interrupt.Question) string {
	text := tty.Safe(q.Question) + "\n"
	if q.Tool != "" && !strings.Contains(q.Question, q.Tool) {
		text += "  " + tty.Safe(q.Tool) + "\n"
	}
	if steps := planChoice(q); steps != "" {
		text += steps
	} else if len(q.Args) > 0 {
		text += "  " + tty.Safe(arguments(q.Args)) + "\n"
	}
	if rule := q.RuleText(); rule != "" {
		text += "  " + tty.Safe(rule) + "\n"
	}
	return text
}

// arguments returns the JSON of a call, on several lines if it is long.
func arguments(args json.RawMessage) string {
	const short = 76
	var b bytes.Buffer
	if len(args) <= short || json.Indent(&b, args, "  ", "  ") != nil {
		return string(args)
	}
	return b.String()
}

// planChoice lists the steps of a plan to approve. It returns "" if q is not about a
// plan, or if the steps have more than IDs and goals.
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

// Line waits for a line or for the end of ctx. If ctx ends, its goroutine still reads
// from the terminal, so the process must exit.
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

// choices returns the prompt for the answer to a kind of question.
func choices(kind interrupt.Kind) string {
	switch kind {
	case interrupt.Human, interrupt.User:
		return "Answer: "
	case interrupt.Guard:
		return "[y]es, [n]o, n:REASON > "
	default:
		return "[y]es, [n]o, n:REASON, edit:JSON > "
	}
}
