package probe

import (
	"context"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/model"
)

// Check names a capability of an LLM.
type Check string

// The checks, in the order of the results.
const (
	Text     Check = "text"
	Stream   Check = "stream"
	Tools    Check = "tools"
	Parallel Check = "parallel_tools"
	Schema   Check = "schema"
	Usage    Check = "usage"
)

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	Yes     Verdict = "yes"
	Partly  Verdict = "partly"  // replied, but not as expected
	No      Verdict = "no"      // failed, or unsupported
	Skipped Verdict = "unasked" // skipped or stopped
)

// Finding is the result of one check with its cost.
type Finding struct {
	Check      Check
	Verdict    Verdict
	Note       string       // explanation, may be empty
	Error      *model.Error // why it failed; nil if there was a reply
	Fix        string       // what may help, may be empty
	Calls      int
	Attempts   int // HTTP requests made for the calls, with retries
	Latency    time.Duration
	FirstToken time.Duration // of a stream
	Tokens     model.Tokens
	Cost       float64 // USD 0 if the LLM has no price
}

// Target is the LLM to probe.
type Target struct {
	Model     model.Model
	Params    model.Params
	Cost      *model.Cost // nil = unknown
	RateLimit model.RateLimit

	Path    string   // path in the spec, such as llms.main, used in fixes
	Address string   // path of the server's URL in the spec; "" = the provider's default
	KeyEnvs []string // environment variables that may hold its API key
	KeySet  string   // the one that is set; "" = none
}

// Options configure a probe.
type Options struct {
	Timeout time.Duration // of one call including retries; 0 = none
	// Started and Finished, if not nil, are called for each check that makes calls, from several goroutines.
	Started  func(Check)
	Finished func(Finding)
	// Now is the clock for latencies; nil = time.Now.
	Now func() time.Time
}

// Run makes all checks and returns a finding for each, in the order of the constants. When ctx ends, unfinished checks are
// Unasked.
func Run(ctx context.Context, t Target, o Options) []Finding {
	if o.Now == nil {
		o.Now = time.Now
	}
	p := &prober{target: t, options: o, budget: budget{left: maxCost, price: t.Cost}}
	text := p.check(ctx, Text, (*exchange).text)
	if text.Verdict == No || text.Verdict == Skipped {
		return skipRest(text)
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
	if tools.Verdict == Skipped {
		parallel = outcome{Skipped, "skipped: no tool call", nil}
	}
	return []Finding{text, stream, tools, finding(Parallel, parallel), schema, finding(Usage, p.usage(stream))}
}

// Failed returns the findings for an LLM that cannot be called: the first check failed, and the others were skipped. fix may
// be empty.
func Failed(err *model.Error, fix string) []Finding {
	return skipRest(Finding{Check: Text, Verdict: No, Error: err, Fix: fix})
}

// prober is a probe in progress.
type prober struct {
	target  Target
	options Options
	budget  budget

	mu                               sync.Mutex
	reported, unreported             int // unstreamed replies with and without token usage
	streamReported, streamUnreported int // the same of streamed replies
}

// outcome is the verdict on the replies of a check.
type outcome struct {
	works Verdict
	note  string
	err   *model.Error
}

func finding(c Check, o outcome) Finding {
	return Finding{Check: c, Verdict: o.works, Note: o.note, Error: o.err}
}

// check runs one check.
func (p *prober) check(ctx context.Context, c Check, judge func(*exchange) outcome) Finding {
	if p.options.Started != nil {
		p.options.Started(c)
	}
	x := &exchange{ctx: ctx, prober: p, found: Finding{Check: c}}
	o := judge(x)
	f := x.found
	f.Verdict, f.Note, f.Error = o.works, o.note, o.err
	f.Fix = p.target.fix(&f)
	if p.options.Finished != nil {
		p.options.Finished(f)
	}
	return f
}

// skipRest returns the findings of a probe whose first check failed.
func skipRest(text Finding) []Finding {
	out := []Finding{text}
	for _, c := range []Check{Stream, Tools, Parallel, Schema, Usage} {
		out = append(out, finding(c, outcome{Skipped, "skipped: no text reply", nil}))
	}
	return out
}

// usage checks whether the replies so far reported token usage.
func (p *prober) usage(stream Finding) outcome {
	switch {
	case p.reported+p.streamReported == 0:
		return outcome{No, "replies report no token usage; tokens and costs are estimated", nil}
	case p.streamUnreported > 0:
		return outcome{Partly, "streamed replies report no token usage", nil}
	case p.unreported > 0:
		return outcome{Partly, "some replies report no token usage", nil}
	case stream.Verdict == No, stream.Verdict == Skipped:
		return outcome{Yes, "without streaming; no streamed reply was received", nil}
	}
	return outcome{Yes, "", nil}
}
