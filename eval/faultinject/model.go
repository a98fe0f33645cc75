package faultinject

import (
	"context"
	"time"

	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime/replay"
)

// source provides a reply.
type source interface {
	Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error)
}

// recordedReply is the reply at a path of a recording.
type recordedReply struct {
	recording *replay.Recording
	path      string
}

func (r recordedReply) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	return r.recording.Reply(r.path)
}

// trialModel is a model that may fail.
type trialModel struct {
	faults *Faults
	inner  model.Model // nil = not connected
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

// Generate implements model.Model. The engine calls the model that Choose returns.
func (m *trialModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	return m.Choose(req).Generate(ctx, req, stream)
}

// call is one call of a model.
type call struct {
	purpose purpose
	fault   testspec.InjectedError // "" = none
	from    source                 // nil = no model
}

// Choose implements model.Sequenced. It counts the call and selects its fault.
func (m *trialModel) Choose(req *model.Request) model.Model {
	f := m.faults
	f.models[req.Role]++
	c := &call{purpose: purpose{req.Role, req.Step}}
	c.fault = f.find(func(in *testspec.Inject) bool { return in.Tool == "" && in.Role == req.Role }, f.models[req.Role])
	f.chosen[req] = c
	if f.recording != nil {
		return c // Passthrough sets from once the path is known
	}
	if c.from = f.pendingReply(c.purpose, c.fault != ""); c.from != nil {
		return c
	}
	scripted, ok := m.inner.(model.Sequenced)
	switch {
	case ok:
		c.from = scripted.Choose(req)
	case m.inner != nil:
		c.from = m.inner
	}
	if c.fault != "" && ok { // a live model can simply be called again
		f.pending[c.purpose] = append(f.pending[c.purpose], c.from)
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
		stream = nil // deltas would show the reply without its fault
	}
	if c.from == nil {
		return nil, &model.Error{Kind: model.NotFound, Message: "the " + req.Role + "'s llm is not connected"}
	}
	r, err := c.from.Generate(ctx, req, stream)
	if err != nil || c.fault == "" {
		return r, err
	}
	return applyFault(c.fault, r), nil
}
