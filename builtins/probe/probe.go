package probe

import (
	"context"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// Check is one thing that an llm may be able to do.
type Check string

// The checks, in the order they are told.
const (
	Text     Check = "text"
	Stream   Check = "stream"
	Tools    Check = "tools"
	Parallel Check = "parallel_tools"
	Schema   Check = "schema"
	Usage    Check = "usage"
)

// Verdict says how far something works.
type Verdict string

// The verdicts.
const (
	Yes     Verdict = "yes"
	Partly  Verdict = "partly"  // it answered, but not as it should
	No      Verdict = "no"      // an error, or not what was asked for
	Unasked Verdict = "unasked" // something else failed, or was in the way
)

// Finding is what one check came to.
type Finding struct {
	Check      Check
	Works      Verdict
	Note       string       // what is to be said of it, "" = nothing
	Error      *model.Error // why it failed, nil where a reply came
	WayOut     string       // what may help, "" = nothing known
	Calls      int
	Attempts   int // requests that were made for the calls
	Latency    time.Duration
	FirstToken time.Duration // of a stream
	Tokens     model.Tokens
	Cost       float64 // USD by the llm's price; 0 where it has none
}

// Target is the llm to be asked.
type Target struct {
	Model     model.Model
	Params    model.Params
	Cost      *model.Cost // nil = unknown
	RateLimit model.RateLimit

	Path    string   // where the spec has it, such as llms.main, for ways out
	Address string   // where the spec has its server's address, "" = nowhere: it is the provider's own
	KeyEnvs []string // the environment variables that its key is looked for in
	KeySet  string   // the one that is set, "" = none
}

// Options are how it is asked.
type Options struct {
	Timeout time.Duration // of one call, with its repeats; 0 = none
	// Began and Ended, if not nil, are told of each check that asks something;
	// they are called from many goroutines.
	Began func(Check)
	Ended func(Finding)
	// Now is the clock for latencies; nil = the machine's.
	Now func() time.Time
}

// Ask makes all checks and returns a finding for each, in their order. A ctx
// that ends leaves what was not finished Unasked.
func Ask(ctx context.Context, t Target, o Options) []Finding {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &prober{target: t, options: o, purse: purse{left: mostCost, price: t.Cost}}
	text := p.check(ctx, Text, (*exchange).text)
	if text.Works == No || text.Works == Unasked {
		return p.alone(text)
	}
	var stream, tools, schema Finding
	var parallel outcome
	var all sync.WaitGroup
	all.Go(func() { stream = p.check(ctx, Stream, (*exchange).stream) })
	all.Go(func() {
		tools = p.check(ctx, Tools, func(x *exchange) (out outcome) {
			out, parallel = x.tools()
			return out
		})
	})
	all.Go(func() { schema = p.check(ctx, Schema, (*exchange).schema) })
	all.Wait()
	if tools.Works == Unasked {
		parallel = outcome{Unasked, "no tool call came", nil}
	}
	return []Finding{text, stream, tools, finding(Parallel, parallel), schema, finding(Usage, p.usage(stream))}
}

// prober is an llm while it is asked.
type prober struct {
	target  Target
	options Options
	purse   purse

	mu                      sync.Mutex
	counted, guessed        int // whole replies with usage, and without
	streamed, streamGuesses int
}

// outcome is what a check makes of the replies.
type outcome struct {
	works Verdict
	note  string
	err   *model.Error
}

func finding(c Check, o outcome) Finding {
	return Finding{Check: c, Works: o.works, Note: o.note, Error: o.err}
}

// check makes one check.
func (p *prober) check(ctx context.Context, c Check, judge func(*exchange) outcome) Finding {
	if p.options.Began != nil {
		p.options.Began(c)
	}
	x := &exchange{ctx: ctx, prober: p, found: Finding{Check: c}}
	o := judge(x)
	f := x.found
	f.Works, f.Note, f.Error = o.works, o.note, o.err
	f.WayOut = p.target.wayOut(&f)
	if p.options.Ended != nil {
		p.options.Ended(f)
	}
	return f
}

// alone tells that nothing else was asked, and why, without saying it again.
func (p *prober) alone(text Finding) []Finding {
	out := []Finding{text}
	for _, c := range []Check{Stream, Tools, Parallel, Schema, Usage} {
		out = append(out, finding(c, outcome{Unasked, "no text came", nil}))
	}
	return out
}

// usage says whether tokens are reported, by all replies that came.
func (p *prober) usage(stream Finding) outcome {
	switch {
	case p.counted+p.streamed == 0:
		return outcome{No, "no reply says how many tokens it took: they are estimated, and costs with them", nil}
	case p.streamGuesses > 0:
		return outcome{Partly, "streams do not say how many tokens they took", nil}
	case p.guessed > 0:
		return outcome{Partly, "not every reply says how many tokens it took", nil}
	case stream.Works == No, stream.Works == Unasked:
		return outcome{Yes, "in whole replies; no stream came", nil}
	}
	return outcome{Yes, "", nil}
}
