package otel

import (
	"cmp"

	"go.opentelemetry.io/otel/trace"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

// below exports a span of what a tool call sent. It lasts as long as the call, with its retries.
func (r *runTracer) below(call *span, k kind, ev *engine.Event, name string, describe func(*span)) {
	s := &span{
		kind: k, path: call.path, agent: call.agent, id: spanOf(r.input.RunID, string(k), call.path, 0), parent: call.id,
		name: name, role: trace.SpanKindClient, start: call.start,
	}
	describe(s)
	r.export(s, r.timeOf(ev))
}

// remoteCall exports the span of the requests of a call to a server.
func (r *runTracer) remoteCall(call *span, ev *engine.Event) {
	did := ev.Remote
	if did == nil || did.Protocol != "mcp" {
		return
	}
	name := did.Method
	if did.Target != "" {
		name += " " + did.Target
	}
	r.below(call, mcpSpan, ev, name, func(s *span) {
		s.set(mcpMethod.String(did.Method), networkTransport.String(did.Transport), effectPath.String(ev.Path))
		switch {
		case did.Method == "prompts/get":
			s.set(promptName.String(did.Target))
		case did.Target != "":
			s.set(operationName.String("execute_tool"), toolName.String(did.Target))
		}
		if did.Address != "" {
			s.set(serverAddress.String(did.Address), serverPort.Int(did.Port))
		}
		if did.Version != "" {
			s.set(mcpVersion.String(did.Version))
		}
		if did.Session != "" {
			s.set(mcpSession.String(did.Session))
		}
		if did.Code != "" {
			s.set(rpcStatus.String(did.Code))
		}
		if ev.Status != string(tool.CallOK) {
			s.fail(cmp.Or(did.Error, ev.Status))
		}
	})
}

// embeddings exports the span of the embeddings of a call.
func (r *runTracer) embeddings(call *span, ev *engine.Event) {
	made := ev.Embedded
	if made == nil {
		return
	}
	model, provider := made.Model, ""
	if spec := ev.Program.Model(made.Model); spec != nil {
		model, provider = cmp.Or(spec.Params.Model, made.Model), providerOf(spec.Provider)
	}
	r.below(call, vectorSpan, ev, "embeddings "+model, func(s *span) {
		s.set(operationName.String("embeddings"), requestModel.String(model), llmName.String(made.Model), effectPath.String(ev.Path), inputTokens.Int(made.Tokens.Input))
		if provider != "" {
			s.set(providerName.String(provider), systemName.String(provider))
		}
		if ev.Dimensions > 0 {
			s.set(dimensionCount.Int(ev.Dimensions))
		}
		if made.Cost > 0 {
			s.set(costUSD.Float64(made.Cost))
		}
		if made.Tokens.Total() == 0 { // they may have been made
			s.fail("unknown")
		}
	})
}
