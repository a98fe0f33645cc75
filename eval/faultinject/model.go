package faultinject

import (
	"context"
	"time"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// source is where a reply comes from.
type source interface {
	Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error)
}

// recordedReply is what a recording holds at a path.
type recordedReply struct {
	recording *replay.Recording
	path      string
}

func (r recordedReply) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	return r.recording.Reply(r.path)
}

// model is an llm that may fail.
type trialModel struct {
	faults *Faults
	inner  model.Model // nil = nobody is connected
}

var (
	_ model.RunScoped = (*trialModel)(nil)
	_ model.Sequenced = (*trialModel)(nil)
	_ model.Model     = (*trialModel)(nil)
	_ model.Delayed   = (*call)(nil)
)

// ForRun implements model.RunScoped.
func (m *trialModel) ForRun(id string) model.Model {
	inner := m.inner
	if rm, ok := inner.(model.RunScoped); ok {
		inner = rm.ForRun(id)
	}
	return &trialModel{m.faults, inner}
}

// Generate implements model.Model; the engine calls what Choose returns.
func (m *trialModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return m.Choose(req).Generate(ctx, req, stream)
}

// call is one call of a model.
type call struct {
	purpose purpose
	fault   testspec.InjectedError // "" = none
	from    source                 // nil = nobody answers
}

// Choose implements model.Sequenced: it counts the call and decides.
func (m *trialModel) Choose(req *model.Request) model.Model {
	f := m.faults
	f.models[req.Role]++
	c := &call{purpose: purpose{req.Role, req.Step}}
	c.fault = f.find(func(in *testspec.Inject) bool { return in.Tool == "" && in.Role == req.Role }, f.models[req.Role])
	f.chosen[req] = c
	if f.recording != nil {
		return c // Aside says from where, once the path is known
	}
	if c.from = f.left(c.purpose, c.fault != ""); c.from != nil {
		return c
	}
	scripted, ok := m.inner.(model.Sequenced)
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

// Delay implements model.Delayed.
func (c *call) Delay() time.Duration {
	if d, ok := c.from.(model.Delayed); ok {
		return d.Delay()
	}
	return 0
}

// Generate implements model.Model.
func (c *call) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	if c.fault != "" {
		if err := modelError(c.fault); err != nil {
			return nil, err
		}
		stream = nil // nobody sees what is spoiled
	}
	if c.from == nil {
		return nil, &model.Error{Kind: model.NotFound, Message: "the " + req.Role + "'s llm is not connected"}
	}
	r, err := c.from.Generate(ctx, req, stream)
	if err != nil || c.fault == "" {
		return r, err
	}
	return spoiled(c.fault, r), nil
}
