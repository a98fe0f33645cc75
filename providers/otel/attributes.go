package otel

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// tokens returns the attributes of usage.
func (r *runTracer) tokens(u *model.Tokens) []attribute.KeyValue {
	out := []attribute.KeyValue{inputTokens.Int(u.Input), outputTokens.Int(u.Output)}
	for _, a := range []struct {
		key attribute.Key
		n   int
	}{{cacheRead, u.Cached}, {r.t.names.cacheWrite, u.CacheWrite}, {reasoning, u.Reasoning}} {
		if a.n > 0 {
			out = append(out, a.key.Int(a.n))
		}
	}
	return out
}

// usage returns the attributes of what a call or step used.
func (r *runTracer) usage(ev *engine.Event) (out []attribute.KeyValue) {
	if ev.Usage != nil {
		out = r.tokens(ev.Usage)
	}
	if ev.CostUSD > 0 {
		out = append(out, costUSD.Float64(ev.CostUSD))
	}
	return out
}

// milliseconds returns an attribute, if it is known.
func milliseconds(key attribute.Key, n int64) []attribute.KeyValue {
	if n == 0 {
		return nil
	}
	return []attribute.KeyValue{key.Int64(n)}
}

// parameters returns the attributes of a request's parameters.
func parameters(p *model.Params) (out []attribute.KeyValue) {
	if p.Temperature != nil {
		out = append(out, temperature.Float64(*p.Temperature))
	}
	if p.TopP != nil {
		out = append(out, topP.Float64(*p.TopP))
	}
	if p.MaxOutputTokens > 0 {
		out = append(out, maxTokens.Int(p.MaxOutputTokens))
	}
	if len(p.Stop) > 0 {
		out = append(out, stopSequences.StringSlice(p.Stop))
	}
	if p.Seed != nil {
		out = append(out, seed.Int64(*p.Seed))
	}
	return out
}

// replied returns the attributes of a reply.
func replied(reply *model.Reply) (out []attribute.KeyValue) {
	if reply.Model != "" {
		out = append(out, responseModel.String(reply.Model))
	}
	if reply.ID != "" {
		out = append(out, responseID.String(reply.ID))
	}
	if reply.FirstToken > 0 {
		out = append(out, requestStream.Bool(true), firstChunk.Float64(reply.FirstToken.Seconds()))
	}
	if reply.Attempts > 1 {
		out = append(out, attemptCount.Int(reply.Attempts))
	}
	return out
}
