package runtime

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/pexctl/pex/engine"
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
