package otel

import (
	"cmp"
	"net/url"
	"path"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/pexctl/pex/engine"
)

// beginModel starts a model call; that of a planner or reflector is within a span for its turn.
func (r *runTracer) beginModel(ev *engine.Event) {
	turn := path.Dir(ev.Path)
	around := r.find(planSpan, turn)
	if (ev.Role == "planner" || ev.Role == "reflector") && around == nil {
		around = r.begin(planSpan, ev, turn, "plan "+ev.Program.Name)
		around.set(agentName.String(ev.Program.Name), roleName.String(ev.Role))
		if op := r.t.names.planning; op != "" {
			around.set(operationName.String(op))
		}
	}
	name := cmp.Or(ev.RequestModel, ev.Model)
	s := r.begin(modelSpan, ev, ev.Path, "chat "+name)
	s.role = trace.SpanKindClient
	s.set(operationName.String("chat"), requestModel.String(name), llmName.String(ev.Model), roleName.String(ev.Role), effectPath.String(ev.Path))
	if spec := ev.Program.Model(ev.Model); spec != nil {
		s.set(providerName.String(providerOf(spec.Provider)), systemName.String(providerOf(spec.Provider)))
		s.set(r.server(spec)...)
	}
	if id := r.input.MemoryID; id != "" {
		s.set(conversationID.String(id))
	}
	if ev.Request != nil {
		s.set(parameters(&ev.Request.Params)...)
		if ev.Request.Schema != nil {
			s.set(outputType.String("json"))
		}
	}
	if ev.Step != nil {
		s.set(stepID.String(ev.Step.ID))
	}
	if ev.Reserved > 0 {
		s.set(reservedCount.Int(ev.Reserved))
	}
	if n := fallbackOf(ev.Path); n > 0 {
		s.set(fallbackIndex.Int(n))
	} else if around != nil && !strings.Contains(path.Base(ev.Path), ".again.") {
		around.calls++
	}
}

// fallbackOf returns which of the LLMs in fallback makes the call at a path, from 1; 0 = none.
func fallbackOf(effect string) int {
	_, rest, _ := strings.Cut(path.Base(effect), ".fallback.")
	number, _, _ := strings.Cut(rest, ".")
	n, _ := strconv.Atoi(number)
	return n
}

// server returns the attributes of the server of an LLM whose address the spec sets. The
// parameters and variables of the address are those of the run.
func (r *runTracer) server(spec *engine.ModelSpec) []attribute.KeyValue {
	if spec.BaseURL.Text == "" {
		return nil
	}
	u, err := url.Parse(spec.BaseURL.Render(func(ns, name string) (any, bool) {
		if ns == "parameters" {
			v, ok := r.input.Parameters[name]
			return v, ok
		}
		v := r.t.getenv(name)
		return v, v != ""
	}))
	if err != nil || u.Hostname() == "" {
		return nil
	}
	port, _ := strconv.Atoi(cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
	return []attribute.KeyValue{serverAddress.String(u.Hostname()), serverPort.Int(port)}
}

func (r *runTracer) endModel(ev *engine.Event) {
	s := r.find(modelSpan, ev.Path)
	if s == nil {
		return
	}
	s.set(r.usage(ev)...)
	s.hasEnded = true
	if e := ev.Error; e != nil {
		s.fail(string(e.Kind))
		if e.Attempts > 1 {
			s.set(attemptCount.Int(e.Attempts))
		}
	} else {
		s.set(finishReasons.StringSlice([]string{finishReason(ev.Status)}))
	}
	if reply := ev.Reply; reply != nil {
		s.set(replied(reply)...)
	}
	r.end(s, r.timeOf(ev))
}
