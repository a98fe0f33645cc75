package toolcmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
)

// callResponder answers the questions of a call: --yes approves, others are asked at
// the terminal. Without one they stay open.
func callResponder(c *call) interrupt.Responder {
	var at interrupt.Responder
	in, reads := ui.Terminal(c.Stdin)
	out, shows := ui.Terminal(c.Stderr)
	if reads && shows && c.args != "-" {
		at = &ui.Person{In: bufio.NewReader(in), Out: out, Pause: func(ask func()) { ask() }}
	}
	if c.Yes {
		return approver{at}
	}
	return at
}

// approver approves calls, and leaves all other questions to a human, if there
// is one.
type approver struct{ person interrupt.Responder } // nil if none

var _ interrupt.Responder = approver{}

// Ask implements interrupt.Responder.
func (y approver) Ask(ctx context.Context, q interrupt.Question) (json.RawMessage, error) {
	switch {
	case q.Kind == interrupt.Approval:
		return json.Marshal(interrupt.Decision{Do: "approve"})
	case y.person == nil:
		return nil, errors.New("cannot prompt without a terminal")
	}
	return y.person.Ask(ctx, q)
}

// callSink shows the events of a running call.
type callSink struct{ c *call }

var _ engine.Sink = (*callSink)(nil)

// Send implements engine.Sink.
func (s *callSink) Send(ev engine.Event) {
	text := ev.Text
	switch ev.Type {
	case engine.ToolProgress:
	case engine.Warning, engine.ModelRetrying, engine.ToolRetrying:
		text = sink.Remark(ev)
	default:
		return
	}
	fmt.Fprintln(s.c.Stderr, ui.Safe(s.c.Stderr, text))
}
