package runtime

import (
	"sync/atomic"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// remoteCall collects the requests of a call of a tool.RemoteCaller, for sinks.
type remoteCall struct {
	expected tool.RemoteCall
	reported atomic.Pointer[tool.RemoteCall] // by the last attempt of this session
}

// newRemoteCall returns a collector for a call of t, or nil.
func newRemoteCall(t tool.Tool) *remoteCall {
	if t, ok := t.(tool.RemoteCaller); ok {
		return &remoteCall{expected: t.Remote()}
	}
	return nil
}

// reporter returns the function that the tool calls; nil for nil.
func (r *remoteCall) reporter() func(tool.RemoteCall) {
	if r == nil {
		return nil
	}
	return func(did tool.RemoteCall) { r.reported.Store(&did) }
}

// note stores requests that another process made; nil for none.
func (r *remoteCall) note(did *tool.RemoteCall) {
	if r != nil && did != nil {
		r.reported.Store(did)
	}
}

// requests returns what is known of the requests; nil for nil.
func (r *remoteCall) requests() *tool.RemoteCall {
	if r == nil {
		return nil
	}
	if did := r.reported.Load(); did != nil {
		return did
	}
	return &r.expected
}

// addEmbedded adds embeddings to those of a call, which may be nil. lost reports that there are
// some whose usage is unknown.
func addEmbedded(sum *engine.Embedded, llm *engine.ModelSpec, made []model.Tokens, lost bool) *engine.Embedded {
	if len(made) == 0 && !lost {
		return sum
	}
	if sum == nil {
		sum = &engine.Embedded{Model: llm.Name}
	}
	for _, t := range made {
		sum.Tokens, sum.Cost = sum.Tokens.Plus(t), sum.Cost+llm.Cost.Of(t)
	}
	return sum
}
