package otel

import (
	"cmp"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// runMeter counts what one session of a run does. Events of earlier sessions, which these
// counted, only tell when questions were asked and what the run has cost.
type runMeter struct {
	to    *instruments
	agent []attribute.KeyValue // with the tenant, if it is a label
	asked map[string]time.Time // by path of a question without an answer
	spent float64              // USD that events have reported
}

var (
	_ engine.Sink       = (*runMeter)(nil)
	_ engine.ReplaySink = (*runMeter)(nil)
)

func newRunMeter(m *Metrics, p *engine.Program, in *engine.Input) *runMeter {
	agent := []attribute.KeyValue{agentLabel.String(cmp.Or(in.Agent, p.Name))}
	if m.tenant != "" {
		tenant := m.tenant
		if o := in.Origin; o != nil && o.Tenant != "" {
			tenant = o.Tenant
		}
		agent = append(agent, tenantLabel.String(tenant))
	}
	return &runMeter{to: m.instruments, agent: agent, asked: map[string]time.Time{}}
}

// Replay implements engine.ReplaySink.
func (r *runMeter) Replay(ev engine.Event) { r.apply(&ev, false) }

// Send implements engine.Sink.
func (r *runMeter) Send(ev engine.Event) {
	if ev.Seq != 0 {
		r.apply(&ev, true)
	}
}

func (r *runMeter) apply(ev *engine.Event, isLive bool) {
	r.answer(ev, isLive)
	r.spend(ev, isLive)
	if ev.Type == engine.InterruptRaised {
		r.asked[ev.Path] = ev.At
	}
	if !isLive {
		return
	}
	switch ev.Type {
	case engine.ModelCompleted:
		r.countModel(ev)
	case engine.ToolCompleted:
		r.to.toolCalls.add(1, toolLabel.String(ev.Tool), statusLabel.String(ev.Status))
	case engine.StepCompleted:
		r.to.steps.add(1, statusLabel.String(string(ev.Step.Status)))
	case engine.RunCompleted:
		r.to.runs.add(1, r.labels(statusLabel.String(ev.Status), stopLabel.String(string(ev.Stop.Code)))...)
		r.to.runDuration.record(seconds(ev.Duration))
	default: // the other events have no metric
	}
}

// labels returns the labels of the run and others.
func (r *runMeter) labels(more ...attribute.KeyValue) []attribute.KeyValue {
	return append(append(make([]attribute.KeyValue, 0, len(r.agent)+len(more)), r.agent...), more...)
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }

// answer ends the wait for the questions that an event follows. One that is open at the end of
// the run was not answered.
func (r *runMeter) answer(ev *engine.Event, isLive bool) {
	for path, at := range r.asked {
		if ev.Path == path || !strings.HasPrefix(path, ev.Path) || ev.Type == engine.Warning {
			continue
		}
		delete(r.asked, path)
		if isLive && ev.Type != engine.RunCompleted {
			r.to.questionWait.record(max(0, ev.At.Sub(at).Seconds()))
		}
	}
}

// spend counts what an event cost, and at the end of the run what no event reported, such as
// embeddings.
func (r *runMeter) spend(ev *engine.Event, isLive bool) {
	usd := 0.0
	switch {
	case ev.Type == engine.ModelCompleted:
		usd = ev.CostUSD
	case ev.Type == engine.RunCompleted && ev.Totals != nil && ev.Rewinds == 0: // else an earlier end has counted it
		usd = ev.Totals.CostUSD - r.spent
	}
	r.spent += usd
	if isLive && usd > 1e-12 {
		r.to.cost.add(usd, r.labels()...)
	}
}

// countModel counts a model call.
func (r *runMeter) countModel(ev *engine.Event) {
	name, provider := ev.Model, "pex"
	if spec := ev.Program.Model(ev.Model); spec != nil {
		name, provider = cmp.Or(spec.Params.Model, ev.Model), providerOf(spec.Provider)
	}
	labels := func(more ...attribute.KeyValue) []attribute.KeyValue {
		return append([]attribute.KeyValue{operationName.String("chat"), providerName.String(provider), requestModel.String(name)}, more...)
	}
	if e := ev.Error; e != nil {
		r.to.modelDuration.record(seconds(ev.Duration), labels(errorType.String(string(e.Kind)))...)
	} else {
		r.to.modelDuration.record(seconds(ev.Duration), labels()...)
	}
	if ev.FirstToken > 0 {
		r.to.firstChunk.record(seconds(ev.FirstToken), labels()...)
	}
	if u := ev.Usage; u != nil {
		r.to.countTokens(u, labels)
	}
}

// countTokens counts the tokens of a call.
func (i *instruments) countTokens(u *model.Tokens, labels func(...attribute.KeyValue) []attribute.KeyValue) {
	if i.names.tokenUsage != "" {
		i.tokenUsage.record(float64(u.Input), labels(tokenType.String("input"))...)
		i.tokenUsage.record(float64(u.Output), labels(tokenType.String("output"))...)
		return
	}
	for n, count := range []int{u.Input, u.Output, u.Cached, u.CacheWrite, u.Reasoning} {
		if count > 0 {
			i.tokens[n].add(int64(count), labels(tokenModality.String("unknown"))...)
		}
	}
}
