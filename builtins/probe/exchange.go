package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/builtins/refusal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
)

// exchange makes the calls of one check.
type exchange struct {
	*prober
	ctx   context.Context // of the caller
	found Finding
}

// Reasons for which a call was not made or has no verdict.
var (
	errStopped = errors.New("stopped before the reply")
	errBudget  = errors.New("skipped: another call could bring the cost of the ping above one cent")
)

// call makes one call and records its cost. The error is a *model.Error, errStopped or errBudget.
func (x *exchange) call(req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	req.Role, req.Params, req.Bounded = "probe", x.target.Params, true
	req.Fallback = true // fail fast if the circuit breaker is open
	req.Metered = true  // the budget covers one attempt
	x.found.Calls++
	req.Call = x.found.Calls
	output, reserved, ok := x.budget.reserve(2*req.Estimate()+100, x.target.Params.MaxOutputTokens)
	if !ok {
		x.found.Calls--
		return nil, errBudget
	}
	req.Params.MaxOutputTokens = output
	ctx, cancel := x.ctx, context.CancelFunc(func() {})
	if x.options.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, x.options.Timeout)
	}
	defer cancel()
	began := x.options.Now()
	r, err := x.target.Model.Generate(ctx, req, stream)
	x.found.Latency += x.options.Now().Sub(began)
	if err != nil {
		err = x.typed(ctx, err)
		if known := model.AsError(err); known == nil || !known.MaybeBilled() {
			x.budget.settle(reserved, 0)
		}
		return nil, err
	}
	x.record(r, reserved, stream != nil)
	return r, nil
}

// typed converts err into one of the errors of call, and counts the attempts.
func (x *exchange) typed(ctx context.Context, err error) error {
	switch known := model.AsError(err); {
	case x.ctx.Err() != nil:
		return errStopped
	case known != nil && ctx.Err() == nil:
		x.found.Attempts += max(known.Attempts, 1)
		return known
	case ctx.Err() != nil:
		x.found.Attempts++
		return &model.Error{Kind: model.CallTimeout, Message: fmt.Sprintf("no reply within %s", x.options.Timeout), Err: err}
	}
	x.found.Attempts++
	return &model.Error{Kind: model.NetworkError, Message: err.Error(), Err: err}
}

func (x *exchange) record(r *model.Reply, reserved float64, streamed bool) {
	cost := x.target.Cost.Of(r.Usage)
	x.budget.settle(reserved, cost)
	x.found.Attempts += max(r.Attempts, 1)
	x.found.Tokens = x.found.Tokens.Plus(r.Usage)
	x.found.Cost += cost
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case streamed && r.Estimated:
		x.streamUnreported++
	case streamed:
		x.streamReported++
	case r.Estimated:
		x.unreported++
	default:
		x.reported++
	}
}

// failed is the outcome of a call without a reply.
func failed(err error) outcome {
	if known := model.AsError(err); known != nil {
		return outcome{No, "", known}
	}
	return outcome{Skipped, err.Error(), nil}
}

// unusable explains why a reply cannot be judged; "" if it can.
func unusable(r *model.Reply) string {
	blank := strings.TrimSpace(r.Text) == ""
	switch {
	case r.Stop == model.Refusal, r.Stop == model.ContentFiltered, r.Stop == model.Guardrail:
		return fmt.Sprintf("refused (%s)", r.Stop)
	case blank && r.Stop == model.MaxTokens:
		return fmt.Sprintf("used all %d tokens that a ping allows for reasoning; runs allow more unless max_output_tokens is small", r.Usage.Output)
	case blank:
		return "the reply is empty"
	case refusal.Is(r.Text):
		return "refused: " + quoteReply(r.Text)
	}
	return ""
}

// quoteReply quotes the beginning of a reply.
func quoteReply(s string) string {
	return `"` + text.ClipRunes(text.OneLine(s), 60) + `"`
}

// user returns a conversation with one user message.
func user(text string) []model.Message {
	return []model.Message{{Role: model.User, Text: model.Text{text}}}
}

// text asks for a word and accepts any.
func (x *exchange) text() outcome {
	r, err := x.call(&model.Request{Messages: user("Reply with one word: pong")}, nil)
	if err != nil {
		return failed(err)
	}
	if note := unusable(r); note != "" {
		return outcome{Partly, note, nil}
	}
	return outcome{Yes, "", nil}
}

// stream asks for a short text and counts the deltas.
func (x *exchange) stream() outcome {
	var texts, reasonings int
	var first time.Duration
	began := x.options.Now()
	r, err := x.call(&model.Request{Messages: user("Write the numbers from 1 to 12 in digits, separated by spaces.")}, func(d model.Delta) {
		if texts+reasonings == 0 {
			first = x.options.Now().Sub(began)
		}
		if d.Text != "" {
			texts++
		}
		if d.Reasoning != "" {
			reasonings++
		}
	})
	if err != nil {
		return failed(err)
	}
	x.found.FirstToken = first
	if note := unusable(r); note != "" {
		return outcome{Partly, note, nil}
	}
	if texts < 2 {
		return outcome{Partly, "the reply arrived in one piece", nil}
	}
	return outcome{Yes, fmt.Sprintf("%d pieces", texts+reasonings), nil}
}

const (
	maxCost    = 0.01 // USD for probing one LLM
	maxOutput  = 512  // tokens of a reply, including reasoning
	minOutput  = 16   // tokens; a shorter reply proves nothing
	concurrent = 3    // checks that run at the same time
)

// budget is what a probe may still cost. The worst case of a call is reserved before it and settled after it. Safe for
// concurrent use.
type budget struct {
	mu    sync.Mutex
	left  float64
	price *model.Cost // nil = unknown: nothing is reserved
}

// reserve reserves the worst case of a call with that many input tokens, and returns the output tokens it may use. ok is false
// if the budget is too small.
func (p *budget) reserve(input, requested int) (output int, reserved float64, ok bool) {
	if requested <= 0 || requested > maxOutput {
		requested = maxOutput
	}
	if p.price == nil {
		return requested, 0, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	share := p.left/concurrent - p.price.Of(model.Tokens{Input: input})
	if out := p.price.Output / 1e6; out > 0 && share < out*float64(requested) {
		requested = min(requested, max(int(share/out), 0))
	}
	if share < 0 || requested < minOutput {
		return 0, 0, false
	}
	reserved = p.price.Of(model.Tokens{Input: input, Output: requested})
	p.left -= reserved
	return requested, reserved, true
}

// settle releases the part of a reservation that was not used.
func (p *budget) settle(reserved, used float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left += reserved - used
}
