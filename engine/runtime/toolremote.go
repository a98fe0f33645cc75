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

// observeRemote prepares to observe a call that is about to be made.
func (c *toolRun) observeRemote() {
	if !c.s.r.emit.enabled() {
		return
	}
	if t, ok := c.tool.Tool.(tool.RemoteCaller); ok {
		c.remote = &remoteCall{expected: t.Remote()}
	}
}

// reporter returns the function that the tool calls; nil for nil.
func (r *remoteCall) reporter() func(tool.RemoteCall) {
	if r == nil {
		return nil
	}
	return func(did tool.RemoteCall) { r.reported.Store(&did) }
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

// noteEmbedded adds embeddings to those that the event of the call tells of. lost reports that
// there are some whose usage is unknown.
func (c *toolRun) noteEmbedded(llm *engine.ModelSpec, made []model.Tokens, lost bool) {
	if !c.s.r.emit.enabled() || len(made) == 0 && !lost {
		return
	}
	if c.embedded == nil {
		c.embedded = &engine.Embedded{Model: llm.Name}
	}
	for _, t := range made {
		c.embedded.Tokens, c.embedded.Cost = c.embedded.Tokens.Plus(t), c.embedded.Cost+llm.Cost.Of(t)
	}
}
