package runtime

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// worst is what one question of a tool may take of its llm: all its tokens at
// the dearest price that any of them may have.
func mostSampled(m tool.Sampling, price *model.Cost) reservation {
	w := reservation{tokens: m.MaxTokens}
	if price != nil {
		in, out := price.Dearest(m.MaxTokens)
		w.cost = float64(m.MaxTokens) * max(in, out) / 1e6
	}
	return w
}

// meter is what the attempts of a part ask of an llm. Safe for concurrent use.
type meter struct {
	mu     sync.Mutex
	asked  int
	open   int // asked and not answered
	lost   int // of those nobody knows what they took
	used   []model.Tokens
	closed bool

	// Texts for vectors, in bytes: all that went out, those under way, and those
	// of which nobody knows what they took.
	sent, pending, unknown int
	vectors                []model.Tokens // what those took that were made
}

// sample is Call.Sample.
func (m *midcall) sample(ctx context.Context, messages []model.Message, maxTokens int) (*model.Reply, error) {
	may := m.tool.sampling
	llm := m.r.models[may.LLM]
	req, err := m.request(llm.spec, messages, maxTokens)
	if err != nil {
		return nil, err
	}
	if req.Call, err = m.meter.begin(may); err != nil {
		return nil, err
	}
	req.Key = m.call.Key + "/sample." + strconv.Itoa(req.Call)
	mdl := llm.choose(req)
	if mdl == nil {
		m.meter.end(nil, false)
		return nil, fmt.Errorf("llm %s is not connected", may.LLM)
	}
	m.r.retries.Called()
	reply, err := mdl.Generate(m.llmContext(ctx, may.LLM), req, nil)
	if err != nil {
		me := model.AsError(err)
		m.meter.end(nil, me == nil || me.MaybeBilled())
		return nil, errors.New(m.tool.mask.Text(err.Error()))
	}
	m.meter.end(&reply.Usage, false)
	return m.tool.mask.Reply(reply), nil
}

// request is what the llm is asked: with no more room for its reply than the
// bound leaves.
func (p *part) request(llm *engine.ModelSpec, messages []model.Message, maxTokens int) (*model.Request, error) {
	may := p.tool.sampling
	req := &model.Request{Role: "tool", Messages: messages, Params: llm.Params, Metered: p.metered}
	room := may.MaxTokens - (requestBytes(req)+1)/2
	if room < minOutput {
		return nil, fmt.Errorf("what the tool asks of the llm %s is longer than its %d tokens allow", may.LLM, may.MaxTokens)
	}
	for _, wanted := range []int{maxTokens, llm.Params.MaxOutputTokens} {
		if wanted > 0 {
			room = min(room, wanted)
		}
	}
	req.Bounded = room != llm.Params.MaxOutputTokens
	req.Params.MaxOutputTokens = room
	return req, nil
}

// begin notes a question, and says how many there were.
func (m *meter) begin(may tool.Sampling) (nth int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return 0, errOver
	case m.asked >= may.MaxCalls:
		return 0, fmt.Errorf("a call may ask the llm %s %d times", may.LLM, may.MaxCalls)
	}
	m.asked++
	m.open++
	return m.asked, nil
}

// end notes an answer; one that came to nothing may have been billed.
func (m *meter) end(used *model.Tokens, billed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return // it counts as lost
	}
	m.open--
	if used != nil {
		m.used = append(m.used, *used)
	} else if billed {
		m.lost++
	}
}

// close ends the meter with its part, and says what the part took: questions
// and texts that are under way count as lost.
func (m *meter) close() tries {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost, m.open, m.closed = m.lost+m.open, 0, true
	m.unknown, m.pending = m.unknown+m.pending, 0
	return tries{Sampled: m.used, Lost: m.lost, Vectors: m.vectors, LostVectors: vectorTokens(m.unknown)}
}

const (
	// argumentsMore is what a call may have made vectors of beside its arguments,
	// in bytes: words of its own around them.
	argumentsMore = 32
	// maxGrants is how often one call is granted vectors of more than that.
	maxGrants = 20
)

// errUngranted ends a call that is going to have vectors made of more text than
// a budget has paid for: it is made again, once that is done.
var errUngranted = errors.New("the call goes on once the budget has paid for its vectors")

// vectorsOf is the llm that a tool has make vectors, by what its settings tell;
// "" = none.
func vectorsOf(spec *tool.Spec) string {
	if spec == nil {
		return ""
	}
	config, tells := spec.Config.(engine.BoundedTool)
	if !tells {
		return ""
	}
	for _, a := range config.Asks() {
		if a.Vectors {
			return a.LLM
		}
	}
	return ""
}

// vectorTokens is the most tokens that so many bytes of text are taken for,
// as those of other requests are.
func vectorTokens(bytes int) int { return (bytes + 1) / 2 }

// granted is how many tokens of vectors the call may have made when it is made
// again, which wants so many; 0 = those of its arguments. One call at a time
// is granted more, in the whole tree of runs: what it has made, that of another
// tool with the same files may want no more.
func (c *toolRun) granted(wants int) (int, error) {
	root := c.s.r.root()
	if !root.granted {
		return wants, nil
	}
	return 0, c.s.Await(func() bool { return !root.granted })
}

// ungrantable is the failure of a call that wants more each time that it is made.
func ungrantable() error {
	return &journal.Failure{Code: failedTool, Message: "the tool wants vectors of other texts each time that it is called, so no budget can pay for them before"}
}

// embed is Call.Embed.
func (m *midcall) embed(ctx context.Context, texts []string, rest int) ([][]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	llm := m.tool.vectors
	by := m.r.host.Embedders[llm]
	if by == nil {
		return nil, fmt.Errorf("the llm %s makes no vectors here", llm)
	}
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	if err := m.send(size, rest); err != nil {
		return nil, err
	}
	ctx = m.llmContext(ctx, llm)
	if m.metered {
		ctx = model.WithMeter(ctx)
	}
	vectors, used, err := by.Embed(ctx, texts)
	if err == nil && used.Total() == 0 {
		used.Input = estimateOf(texts)
	}
	lost := 0
	if me := model.AsError(err); err != nil && (me == nil || me.MaybeBilled()) {
		lost = size
	}
	m.meter.embedded(used, size, lost)
	return vectors, err
}

func estimateOf(texts []string) int {
	n := 0
	for _, t := range texts {
		n += utf8.RuneCountInString(t)
	}
	return model.EstimateTokens(n)
}

// send notes texts of so many bytes that go to the llm, unless a budget has to
// pay for them first, and for those that come after them.
func (m *midcall) send(size, rest int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.over:
		return errOver
	case m.asked != nil:
		return tool.ErrAsking
	case m.wants > 0:
		return errUngranted
	}
	bound := -1
	if m.metered {
		bound = m.allowed
	}
	if m.meter.send(size, rest, bound) {
		m.sent += size
		return nil
	}
	wants := vectorTokens(m.sent + size + rest)
	if m.tool.effect() == tool.WriteEffect {
		return fmt.Errorf("a call that writes is made once, so it may have vectors made of %d tokens, and wants %d", m.allowed, wants)
	}
	m.wants = wants
	m.end(errUngranted)
	return errUngranted
}

// send notes texts that go out, unless they and those that come after them are
// more tokens than the bound; one below zero is none.
func (m *meter) send(size, rest, bound int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || bound >= 0 && vectorTokens(m.sent+size+rest) > bound {
		return false
	}
	m.sent += size
	m.pending += size
	return true
}

// embedded notes what came of texts of so many bytes: the tokens that are known
// to be used, and the bytes of which it is not known.
func (m *meter) embedded(used model.Tokens, size, lost int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return // they count as lost
	}
	m.pending -= size
	m.unknown += lost
	if used != (model.Tokens{}) && lost == 0 {
		m.vectors = append(m.vectors, used)
	}
}

// embedded books vectors that were made.
func (s *scope) embedded(llm *engine.ModelSpec, made []model.Tokens) (sum reservation) {
	if len(made) == 0 {
		return sum
	}
	f := engine.Embedded{Model: llm.Name}
	for _, t := range made {
		f.Tokens, f.Cost = f.Tokens.Plus(t), f.Cost+llm.Cost.Of(t)
	}
	s.Record(f)
	return reservation{tokens: f.Tokens.Total(), cost: f.Cost}
}
