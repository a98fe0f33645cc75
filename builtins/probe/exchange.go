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

// exchange is the calls of one check.
type exchange struct {
	*prober
	ctx   context.Context // the caller's
	found Finding
}

// Why a call was not made, or has no verdict.
var (
	errStopped = errors.New("stopped before the answer came")
	errPurse   = errors.New("one more call might take the ping past a cent")
)

// ask makes one call and keeps account of it. The error is a *model.Error,
// errStopped or errPurse.
func (x *exchange) ask(req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	req.Role, req.Params, req.Bounded = "probe", x.target.Params, true
	req.Fallback = true // a server that is left alone is not waited for
	req.Metered = true  // the purse pays for one attempt
	x.found.Calls++
	req.Call = x.found.Calls
	output, held, ok := x.purse.take(2*req.Estimate()+100, x.target.Params.MaxOutputTokens)
	if !ok {
		x.found.Calls--
		return nil, errPurse
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
		err = x.failed(ctx, err)
		if known := model.AsError(err); known == nil || !known.MaybeBilled() {
			x.purse.settle(held, 0)
		}
		return nil, err
	}
	x.book(r, held, stream != nil)
	return r, nil
}

// failed types what went wrong, and counts the attempts it took.
func (x *exchange) failed(ctx context.Context, err error) error {
	switch known := model.AsError(err); {
	case x.ctx.Err() != nil:
		return errStopped
	case known != nil && ctx.Err() == nil:
		x.found.Attempts += max(known.Attempts, 1)
		return known
	case ctx.Err() != nil:
		x.found.Attempts++
		return &model.Error{Kind: model.CallTimeout, Message: fmt.Sprintf("no answer within %s", x.options.Timeout), Err: err}
	}
	x.found.Attempts++
	return &model.Error{Kind: model.NetworkError, Message: err.Error(), Err: err}
}

func (x *exchange) book(r *model.Reply, held float64, streamed bool) {
	cost := x.target.Cost.Of(r.Usage)
	x.purse.settle(held, cost)
	x.found.Attempts += max(r.Attempts, 1)
	x.found.Tokens = x.found.Tokens.Plus(r.Usage)
	x.found.Cost += cost
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case streamed && r.Estimated:
		x.streamGuesses++
	case streamed:
		x.streamed++
	case r.Estimated:
		x.guessed++
	default:
		x.counted++
	}
}

// broken is the outcome of a call that gave no reply.
func broken(err error) outcome {
	if known := model.AsError(err); known != nil {
		return outcome{No, "", known}
	}
	return outcome{Unasked, err.Error(), nil}
}

// mute says why a reply has nothing to be judged by, "" where it has.
func mute(r *model.Reply) string {
	blank := strings.TrimSpace(r.Text) == ""
	switch {
	case r.Stop == model.Refusal, r.Stop == model.ContentFiltered, r.Stop == model.Guardrail:
		return fmt.Sprintf("answered, but declined (%s)", r.Stop)
	case blank && r.Stop == model.MaxTokens:
		return fmt.Sprintf("answered, but thought away the %d tokens that a ping allows; runs allow more, unless max_output_tokens is small", r.Usage.Output)
	case blank:
		return "answered, but with nothing"
	case refusal.Is(r.Text):
		return "answered, but declined: " + quoted(r.Text)
	}
	return ""
}

// quoted is the beginning of what a model said.
func quoted(s string) string {
	return `"` + text.ClipRunes(text.OneLine(s), 60) + `"`
}

// user is a conversation that begins.
func user(text string) []model.Message {
	return []model.Message{{Role: model.User, Text: model.Text{text}}}
}

// text asks for a word. Which one comes is the model's business.
func (x *exchange) text() outcome {
	r, err := x.ask(&model.Request{Messages: user("Reply with one word: pong")}, nil)
	if err != nil {
		return broken(err)
	}
	if note := mute(r); note != "" {
		return outcome{Partly, note, nil}
	}
	return outcome{Yes, "", nil}
}

// stream asks for a few words and looks at the pieces.
func (x *exchange) stream() outcome {
	var said, thought int
	var first time.Duration
	began := x.options.Now()
	r, err := x.ask(&model.Request{Messages: user("Write the numbers from 1 to 12 in digits, separated by spaces.")}, func(d model.Delta) {
		if said+thought == 0 {
			first = x.options.Now().Sub(began)
		}
		if d.Text != "" {
			said++
		}
		if d.Reasoning != "" {
			thought++
		}
	})
	if err != nil {
		return broken(err)
	}
	x.found.FirstToken = first
	if note := mute(r); note != "" {
		return outcome{Partly, note, nil}
	}
	if said < 2 {
		return outcome{Partly, "the reply came in one piece", nil}
	}
	return outcome{Yes, fmt.Sprintf("%d pieces", said+thought), nil}
}

const (
	mostCost   = 0.01 // USD that asking one llm may cost
	mostOutput = 512  // tokens of a reply; reasoning models think before they speak
	minOutput  = 16   // with fewer a reply says nothing of the llm
	sharers    = 3    // checks that are made side by side
)

// purse is what asking an llm may still cost. The worst case of a call is taken
// out before it, and what is left of that put back. Safe for concurrent use.
type purse struct {
	mu    sync.Mutex
	left  float64
	price *model.Cost // nil = unknown, and then nothing is taken
}

// take pays for the worst case of a call with so many tokens of input: it gives
// how long the reply may be. ok is false when the purse does not hold enough.
func (p *purse) take(input, wanted int) (output int, held float64, ok bool) {
	if wanted <= 0 || wanted > mostOutput {
		wanted = mostOutput
	}
	if p.price == nil {
		return wanted, 0, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	share := p.left/sharers - p.price.Of(model.Tokens{Input: input})
	if out := p.price.Output / 1e6; out > 0 && share < out*float64(wanted) {
		wanted = min(wanted, max(int(share/out), 0))
	}
	if share < 0 || wanted < minOutput {
		return 0, 0, false
	}
	held = p.price.Of(model.Tokens{Input: input, Output: wanted})
	p.left -= held
	return wanted, held, true
}

// settle puts back what a call did not cost.
func (p *purse) settle(held, used float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left += held - used
}
