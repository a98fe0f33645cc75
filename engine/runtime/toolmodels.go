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
	"github.com/pexctl/pex/engine/tracecontext"
)

// worstSample returns the most that one sample may cost: all its tokens at the highest
// price of any of them.
func worstSample(m tool.Sampling, price *model.Cost) reservation {
	w := reservation{tokens: m.MaxTokens}
	if price != nil {
		in, out := price.HighestPrices(m.MaxTokens)
		w.cost = float64(m.MaxTokens) * max(in, out) / 1e6
	}
	return w
}

// meter counts the LLM usage of a segment's attempts. Safe for concurrent use.
type meter struct {
	mu          sync.Mutex
	samples     int
	inFlight    int // samples without a reply yet
	lostSamples int // samples whose usage is unknown
	usage       []model.Tokens
	closed      bool

	// Bytes of texts to embed: all that were sent, those in flight, and those whose usage
	// is unknown.
	sentBytes, pendingBytes, unknownBytes int
	embedUsage                            []model.Tokens // usage of the embeddings made, by request
}

// sample implements tool.Call.Sample.
func (m *toolSession) sample(ctx context.Context, messages []model.Message, maxTokens int) (*model.Reply, error) {
	may := m.tool.sampling
	llm := m.site.models[may.LLM]
	req, err := m.request(llm.spec, messages, maxTokens)
	if err != nil {
		return nil, err
	}
	if req.Call, err = m.meter.startSample(may); err != nil {
		return nil, err
	}
	req.Key = m.call.Key + "/sample." + strconv.Itoa(req.Call)
	mdl := llm.choose(req)
	if mdl == nil {
		m.meter.endSample(nil, false)
		return nil, fmt.Errorf("llm %s is not connected", may.LLM)
	}
	m.site.retries.AddCall()
	ctx = m.spans.Call(ctx, tracecontext.ToolKind, m.span)
	reply, err := mdl.Generate(m.llmContext(ctx, may.LLM), req, nil)
	if err != nil {
		me := model.AsError(err)
		m.meter.endSample(nil, me == nil || me.MaybeBilled())
		return nil, errors.New(m.tool.mask.Text(err.Error()))
	}
	m.meter.endSample(&reply.Usage, false)
	return m.tool.mask.Reply(reply), nil
}

// request returns the request of a sample, whose output is limited to what the sampling
// limit leaves.
func (p *callSegment) request(llm *engine.ModelSpec, messages []model.Message, maxTokens int) (*model.Request, error) {
	may := p.tool.sampling
	req := &model.Request{Role: "tool", Messages: messages, Params: llm.Params, Metered: p.Metered}
	room := may.MaxTokens - (requestBytes(req)+1)/2
	if room < minOutput {
		return nil, fmt.Errorf("the request of the tool to llm %s exceeds its limit of %d tokens", may.LLM, may.MaxTokens)
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

// startSample counts a sample and returns its number.
func (m *meter) startSample(may tool.Sampling) (nth int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return 0, errOver
	case m.samples >= may.MaxCalls:
		return 0, fmt.Errorf("a call may use llm %s at most %d times", may.LLM, may.MaxCalls)
	}
	m.samples++
	m.inFlight++
	return m.samples, nil
}

// endSample records the usage of a sample. A failed one may have been billed.
func (m *meter) endSample(used *model.Tokens, billed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return // counted as lost
	}
	m.inFlight--
	if used != nil {
		m.usage = append(m.usage, *used)
	} else if billed {
		m.lostSamples++
	}
}

// close ends the meter and returns the usage. Requests in flight count as lost.
func (m *meter) close() attemptStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lostSamples, m.inFlight, m.closed = m.lostSamples+m.inFlight, 0, true
	m.unknownBytes, m.pendingBytes = m.unknownBytes+m.pendingBytes, 0
	return attemptStats{Sampled: m.usage, Lost: m.lostSamples, Vectors: m.embedUsage, LostVectors: vectorTokens(m.unknownBytes)}
}

const (
	// argumentsMargin is how many bytes beyond its arguments a call may embed without a
	// grant, for text the tool adds around them.
	argumentsMargin = 32
	// maxGrants is how many grants one call can get.
	maxGrants = 20
)

// errNeedsGrant ends a call that wants to embed more text than the budget has paid for.
// The call is repeated once it is paid for.
var errNeedsGrant = errors.New("the call continues once the budget has paid for its embeddings")

// vectorLLM returns the LLM that a tool's settings name for embeddings, or "".
func vectorLLM(spec *tool.Spec) string {
	if spec == nil {
		return ""
	}
	config, ok := spec.Config.(engine.BoundedTool)
	if !ok {
		return ""
	}
	for _, a := range config.WorstCase() {
		if a.Vectors {
			return a.LLM
		}
	}
	return ""
}

// vectorTokens returns the most tokens that a text of that many bytes is estimated at, as
// for other requests.
func vectorTokens(bytes int) int { return (bytes + 1) / 2 }

// grantTokens returns how many tokens a call that wants more may embed when it is
// repeated; 0 = the size of its arguments. Only one call per tree of runs holds a grant
// at a time: the embeddings it stores may serve other tools with the same files.
func (c *toolRun) grantTokens(wants int) (int, error) {
	root := c.s.r.root()
	if !root.grantingVectors {
		return wants, nil
	}
	return 0, c.s.Await(func() bool { return !root.grantingVectors })
}

// grantLimitError is the failure of a call that wants more every time.
func grantLimitError() error {
	return &journal.Failure{Code: failedTool, Message: "the tool embeds other texts in each call, so the budget cannot reserve tokens for them"}
}

// embed implements tool.Call.Embed.
func (m *toolSession) embed(ctx context.Context, texts []string, rest int) ([][]float64, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	llm := m.tool.vectorLLM
	by := m.site.host.Embedders[llm]
	if by == nil {
		return nil, fmt.Errorf("llm %s cannot make embeddings here", llm)
	}
	size := 0
	for _, t := range texts {
		size += len(t)
	}
	if err := m.startEmbed(size, rest); err != nil {
		return nil, err
	}
	ctx = m.spans.Call(m.llmContext(ctx, llm), tracecontext.EmbeddingsKind, m.span)
	if m.Metered {
		ctx = model.WithMeter(ctx)
	}
	vectors, used, err := by.Embed(ctx, texts)
	if err == nil && used.Total() == 0 {
		used.Input = estimateOf(texts)
	}
	if len(vectors) > 0 {
		m.dimensions.Store(int32(len(vectors[0]))) //nolint:gosec // models have thousands
	}
	lost := 0
	if me := model.AsError(err); err != nil && (me == nil || me.MaybeBilled()) {
		lost = size
	}
	m.meter.endEmbed(used, size, lost)
	return vectors, err
}

func estimateOf(texts []string) int {
	n := 0
	for _, t := range texts {
		n += utf8.RuneCountInString(t)
	}
	return model.EstimateTokens(n)
}

// startEmbed counts texts about to be sent. If the budget has not paid for them and the
// rest that follows, the call ends and asks for a grant.
func (m *toolSession) startEmbed(size, rest int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return errOver
	case m.question != nil:
		return tool.ErrQuestionAsked
	case m.wantTokens > 0:
		return errNeedsGrant
	}
	bound := -1
	if m.Metered {
		bound = m.Granted
	}
	if m.meter.startEmbed(size, rest, bound) {
		m.sentBytes += size
		return nil
	}
	wants := vectorTokens(m.sentBytes + size + rest)
	if m.tool.effect() == tool.WriteEffect {
		return fmt.Errorf("a tool that writes is called only once, so the call may embed %d tokens, but needs %d", m.Granted, wants)
	}
	m.wantTokens = wants
	m.end(errNeedsGrant)
	return errNeedsGrant
}

// startEmbed counts texts about to be sent. It returns false if they and the rest exceed
// bound tokens; a negative bound is none.
func (m *meter) startEmbed(size, rest, bound int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || bound >= 0 && vectorTokens(m.sentBytes+size+rest) > bound {
		return false
	}
	m.sentBytes += size
	m.pendingBytes += size
	return true
}

// endEmbed records the outcome of sent texts: the usage, or the bytes whose usage is
// unknown.
func (m *meter) endEmbed(used model.Tokens, size, lost int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return // counted as lost
	}
	m.pendingBytes -= size
	m.unknownBytes += lost
	if used != (model.Tokens{}) && lost == 0 {
		m.embedUsage = append(m.embedUsage, used)
	}
}

// recordEmbedded records the embeddings made.
func (s *scope) recordEmbedded(llm *engine.ModelSpec, made []model.Tokens) (sum reservation) {
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
