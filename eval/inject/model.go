package inject

import (
	"context"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
)

// source is where a reply comes from.
type source interface {
	Generate(ctx context.Context, req *engine.Request, stream func(engine.Delta)) (*engine.Reply, error)
}

// recordedReply is what a recording holds at a path.
type recordedReply struct {
	recording *engine.Recording
	path      string
}

func (r recordedReply) Generate(context.Context, *engine.Request, func(engine.Delta)) (*engine.Reply, error) {
	return r.recording.Reply(r.path)
}

// model is an llm that may fail.
type model struct {
	faults *Faults
	inner  engine.Model // nil = nobody is connected
}

var (
	_ engine.RunModel       = (*model)(nil)
	_ engine.SequencedModel = (*model)(nil)
	_ engine.Model          = (*model)(nil)
	_ engine.DelayedModel   = (*call)(nil)
)

// ForRun implements engine.RunModel.
func (m *model) ForRun(id string) engine.Model {
	inner := m.inner
	if rm, ok := inner.(engine.RunModel); ok {
		inner = rm.ForRun(id)
	}
	return &model{m.faults, inner}
}

// Generate implements engine.Model; the engine calls what Choose returns.
func (m *model) Generate(ctx context.Context, req *engine.Request, stream func(engine.Delta)) (*engine.Reply, error) {
	return m.Choose(req).Generate(ctx, req, stream)
}

// call is one call of a model.
type call struct {
	purpose purpose
	fault   dsl.InjectedError // "" = none
	from    source            // nil = nobody answers
}

// Choose implements engine.SequencedModel: it counts the call and decides.
func (m *model) Choose(req *engine.Request) engine.Model {
	f := m.faults
	f.models[req.Role]++
	c := &call{purpose: purpose{req.Role, req.Step}}
	c.fault = f.find(func(in *dsl.Inject) bool { return in.Tool == "" && in.Role == req.Role }, f.models[req.Role])
	f.chosen[req] = c
	if f.recording != nil {
		return c // Aside says from where, once the path is known
	}
	if c.from = f.left(c.purpose, c.fault != ""); c.from != nil {
		return c
	}
	scripted, ok := m.inner.(engine.SequencedModel)
	switch {
	case ok:
		c.from = scripted.Choose(req)
	case m.inner != nil:
		c.from = m.inner
	}
	if c.fault != "" && ok { // a live model is simply asked again
		f.kept[c.purpose] = append(f.kept[c.purpose], c.from)
	}
	return c
}

// Delay implements engine.DelayedModel.
func (c *call) Delay() time.Duration {
	if d, ok := c.from.(engine.DelayedModel); ok {
		return d.Delay()
	}
	return 0
}

// Generate implements engine.Model.
func (c *call) Generate(ctx context.Context, req *engine.Request, stream func(engine.Delta)) (*engine.Reply, error) {
	if c.fault != "" {
		if err := modelError(c.fault); err != nil {
			return nil, err
		}
		stream = nil // nobody sees what is spoiled
	}
	if c.from == nil {
		return nil, &engine.ModelError{Kind: engine.NotFound, Message: "the " + req.Role + "'s llm is not connected"}
	}
	r, err := c.from.Generate(ctx, req, stream)
	if err != nil || c.fault == "" {
		return r, err
	}
	return spoiled(c.fault, r), nil
}
