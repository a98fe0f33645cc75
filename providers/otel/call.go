package otel

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

func (r *runTracer) beginTool(ev *engine.Event) *span {
	s := r.begin(toolSpan, ev, ev.Path, "execute_tool "+ev.Tool)
	s.set(operationName.String("execute_tool"), toolName.String(ev.Tool), toolType.String("function"), effectPath.String(ev.Path))
	for _, a := range []struct {
		key   attribute.Key
		value string
	}{{toolCallID, ev.CallID}, {toolEffect, string(ev.Effect)}, {toolServer, ev.Server}} {
		if a.value != "" {
			s.set(a.key.String(a.value))
		}
	}
	s.set(r.approval(ev.Path)...)
	s.content.args, s.content.result, s.content.about = ev.Args, ev.Text, r.descriptions[ev.Agent+" "+ev.Tool]
	return s
}

func (r *runTracer) endTool(ev *engine.Event) {
	s := r.find(toolSpan, ev.Path)
	if s == nil { // it was rejected
		s = r.beginTool(ev)
	}
	r.remoteCall(s, ev)
	r.embeddings(s, ev)
	s.set(toolStatus.String(ev.Status))
	if ev.Status != string(tool.CallOK) {
		s.fail(ev.Status)
	}
	r.end(s, r.timeOf(ev))
}

// approval returns the attributes of the decision about the call at a path.
func (r *runTracer) approval(path string) []attribute.KeyValue {
	d := r.approvals[path]
	if d == nil {
		return []attribute.KeyValue{approvalKind.String("none")}
	}
	delete(r.approvals, path)
	kind := map[string]string{"approve": "granted", "edit": "edited"}[d.Do]
	if kind == "" {
		kind = "denied"
	}
	return append(actorOf(approvedBy, d), approvalKind.String(kind))
}

// actorOf returns the attribute of who made a decision: a hash, since the name is personal.
func actorOf(key attribute.Key, d *engine.DecisionRecord) []attribute.KeyValue {
	if d.By == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(d.By.String()))
	return []attribute.KeyValue{key.String(hex.EncodeToString(sum[:8]))}
}

// decide notes the decisions that an event reports. Their questions end with the next event of
// the call or plan in question, in every session alike.
func (r *runTracer) decide(ev *engine.Event) {
	for i := range ev.Decisions {
		if r.decided == nil {
			r.decided, r.approvals = map[string]*engine.DecisionRecord{}, map[string]*engine.DecisionRecord{}
		}
		r.decided[ev.Decisions[i].Path] = &ev.Decisions[i]
	}
}

func (r *runTracer) beginAsk(ev *engine.Event) {
	s := r.begin(askSpan, ev, ev.Path, "pex.ask "+string(ev.Interrupt.Kind))
	s.set(questionKind.String(string(ev.Interrupt.Kind)))
}

// endAsk ends the span of a question at the event that follows its answer.
func (r *runTracer) endAsk(s *span, ev *engine.Event) {
	s.set(questionWait.Int64(r.timeOf(ev).Sub(s.start).Milliseconds()))
	if d := r.decided[s.path]; d != nil {
		delete(r.decided, s.path)
		s.set(questionDo.String(d.Do))
		s.set(actorOf(questionBy, d)...)
		if call := approvedCall(s.path); call != "" {
			r.approvals[call] = d
		}
	}
	r.end(s, r.timeOf(ev))
}

// approvedCall returns the path of the tool call that an approval is about, asked for by the
// tool or a guard; "" if the question is about something else.
func approvedCall(question string) string {
	for _, mark := range []string{".approval", "/guard."} {
		if call, _, found := strings.Cut(question, mark); found {
			return strings.TrimSuffix(call, ".edited")
		}
	}
	return ""
}
