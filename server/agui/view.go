package agui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	questions "github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/feed"
	"github.com/pexctl/pex/server/manager"
	"github.com/pexctl/pex/server/turn"
)

// view translates the changes of a run into events of one run of the protocol.
type view struct {
	in       *input
	run      string
	after    int             // event before the first one that is shown
	answered map[string]bool // paths of questions that were answered, or that the input answers
	seq      int             // of the last event that is shown
	ids      map[string]bool // of messages that the client has
	messages []json.RawMessage
	active   []string // steps
	hasState bool     // the client has the state
	resumed  bool
	thinking string // path of the model call whose reasoning is open; "" = none
	thoughts int
	pending  []event
}

func newView(in *input, r *resumption) *view {
	return &view{in: in, run: r.run, after: r.after, seq: r.after, answered: maps.Clone(r.paths), ids: in.ids(), messages: slices.Clone(in.Messages), resumed: r.after > 0}
}

func (v *view) send(e event) { v.pending = append(v.pending, e) }

// take returns the events that are pending.
func (v *view) take() []feed.Item {
	items := make([]feed.Item, len(v.pending))
	for i := range v.pending {
		items[i] = feed.Item{Data: jsonvalue.Encode(&v.pending[i]), More: i < len(v.pending)-1}
	}
	v.pending = v.pending[:0]
	return items
}

// start opens the run of the protocol.
func (v *view) start() {
	v.send(event{Type: "RUN_STARTED", ThreadID: v.in.ThreadID, RunID: v.in.RunID, ProtocolVersion: protocolVersion, Metadata: map[string]string{"run_id": v.run}})
}

// change adds the events of a change. It returns true after the last one.
func (v *view) change(t *turn.Turn, c turn.Change) (done bool) {
	if c.Kind != turn.Delta {
		v.stopThinking()
	}
	if v.resumed {
		v.resumed = false
		v.resume(t, c)
	}
	v.seq = max(v.seq, c.Seq)
	switch c.Kind {
	case turn.Started: // start has sent it
	case turn.Planned:
		v.snapshot(t)
	case turn.StepStarted:
		v.startStep(c.Step.ID)
		v.update(t, c.Step.ID)
	case turn.StepEnded:
		v.startStep(c.Step.ID)
		v.finishStep(c.Step.ID)
		v.update(t, c.Step.ID)
	case turn.CallStarted:
		v.call(c.Call.ID, c.Call.Tool, c.Call.Args)
	case turn.CallEnded:
		v.call(c.Call.ID, c.Call.Tool, c.Call.Args)
		v.callResult(c.Call)
	case turn.CallProgress, turn.Noted, turn.Received:
		v.custom(c)
	case turn.Delta:
		v.think(c)
	case turn.Asked:
		if c.Question.Tool != "" {
			v.call(turn.CallOf(*c.Question), c.Question.Tool, c.Question.Args)
		}
	case turn.Paused:
		v.pause(t, c.Text)
		return true
	case turn.Ended:
		v.end(t)
		return true
	}
	if open := v.open(t); c.Seq > 0 && t.WaitsFor(open) {
		v.interrupt(t, open)
		return true
	}
	return false
}

// open returns the questions that the client has not answered, by path.
func (v *view) open(t *turn.Turn) []questions.Question {
	open := slices.DeleteFunc(slices.Clone(t.Open), func(q questions.Question) bool { return v.answered[q.Path] })
	slices.SortFunc(open, func(a, b questions.Question) int { return strings.Compare(a.Path, b.Path) })
	return open
}

// resume shows what was in progress when the questions were asked.
func (v *view) resume(t *turn.Turn, c turn.Change) {
	for _, s := range t.Steps {
		if s.Status == "running" && (c.Step == nil || c.Step.ID != s.ID) {
			v.startStep(s.ID)
		}
	}
}

func (v *view) startStep(id string) {
	if !slices.Contains(v.active, id) {
		v.active = append(v.active, id)
		v.send(event{Type: "STEP_STARTED", StepName: id})
	}
}

func (v *view) finishStep(id string) {
	v.active = slices.DeleteFunc(v.active, func(other string) bool { return other == id })
	v.send(event{Type: "STEP_FINISHED", StepName: id})
}

// snapshot shows the whole state, also as an activity: a front end can render either.
func (v *view) snapshot(t *turn.Turn) {
	s := &state{Run: v.run, Plan: t.Plans, Steps: []step{}}
	for _, of := range t.Steps {
		s.Steps = append(s.Steps, step(of))
	}
	if t.Status != "" {
		s.Usage = &t.Usage
	}
	v.hasState = true
	v.send(event{Type: "STATE_SNAPSHOT", Snapshot: s})
	if t.Plans > 0 {
		v.send(event{Type: "ACTIVITY_SNAPSHOT", MessageID: v.run + ":plan", ActivityType: "PLAN", Content: s})
	}
}

// update shows a change of a step.
func (v *view) update(t *turn.Turn, id string) {
	i := slices.IndexFunc(t.Steps, func(s turn.Step) bool { return s.ID == id })
	if i < 0 || !v.hasState {
		v.snapshot(t)
		return
	}
	patch := []operation{{"replace", "/steps/" + strconv.Itoa(i), step(t.Steps[i])}}
	v.send(event{Type: "STATE_DELTA", Delta: patch})
	if t.Plans > 0 {
		v.send(event{Type: "ACTIVITY_DELTA", MessageID: v.run + ":plan", ActivityType: "PLAN", Patch: patch})
	}
}

// callID identifies a call within the thread.
func (v *view) callID(path string) string { return v.run + ":" + path }

// call shows a call, unless the client has it.
func (v *view) call(path, tool string, args json.RawMessage) {
	id := v.callID(path)
	if v.ids[id] {
		return
	}
	v.send(event{Type: "TOOL_CALL_START", ToolCallID: id, ToolCallName: tool})
	if len(args) > 0 {
		v.send(event{Type: "TOOL_CALL_ARGS", ToolCallID: id, Delta: string(args)})
	}
	v.send(event{Type: "TOOL_CALL_END", ToolCallID: id})
	of := toolCall{ID: id, Type: "function"}
	of.Function.Name, of.Function.Arguments = tool, string(args)
	v.add(id, assistantMessage{id, "assistant", []toolCall{of}})
}

func (v *view) callResult(c *turn.Call) {
	id, callID := v.callID(c.ID)+":result", v.callID(c.ID)
	if v.ids[id] {
		return
	}
	content := c.Text
	if !c.OK() {
		content = fmt.Sprintf("%s: %s", c.Status, c.Text)
	}
	v.send(event{Type: "TOOL_CALL_RESULT", MessageID: id, ToolCallID: callID, Role: "tool", Content: content})
	v.add(id, toolMessage{id, "tool", callID, content})
}

// add adds a message to those that the client has.
func (v *view) add(id string, m any) {
	v.ids[id] = true
	v.messages = append(v.messages, jsonvalue.Encode(m))
}

func (v *view) custom(c turn.Change) {
	value := map[string]string{"text": c.Text}
	name := "note"
	if c.Kind == turn.CallProgress {
		name, value["toolCallId"] = "tool_progress", v.callID(c.Call.ID)
	}
	if c.Kind == turn.Received {
		name = "message_received"
	}
	v.send(event{Type: "CUSTOM", Name: name, Value: value})
}

// think shows a part of the reply of a model.
func (v *view) think(c turn.Change) {
	if c.Text == "" {
		return
	}
	if v.thinking != c.Path {
		v.stopThinking()
		v.thinking, v.thoughts = c.Path, v.thoughts+1
		v.send(event{Type: "REASONING_START", MessageID: v.thought()})
		v.send(event{Type: "REASONING_MESSAGE_START", MessageID: v.thought(), Role: "reasoning"})
	}
	v.send(event{Type: "REASONING_MESSAGE_CONTENT", MessageID: v.thought(), Delta: c.Text})
}

func (v *view) thought() string { return fmt.Sprintf("%s:reasoning.%d", v.in.RunID, v.thoughts) }

func (v *view) stopThinking() {
	if v.thinking != "" {
		v.thinking = ""
		v.send(event{Type: "REASONING_MESSAGE_END", MessageID: v.thought()})
		v.send(event{Type: "REASONING_END", MessageID: v.thought()})
	}
}

// interrupt ends the run of the protocol with questions. Their answers are another one.
func (v *view) interrupt(t *turn.Turn, open []questions.Question) {
	out := &outcome{Type: "interrupt"}
	for _, q := range open {
		i := interrupt{
			ID: interruptID(v.run, v.seq, q.Path), Reason: string(q.Kind), Message: turn.About(q), ResponseSchema: turn.AnswerSchema(q.Kind),
			Metadata: map[string]string{"run_id": v.run, "path": q.Path, "digest": manager.Digest(q)},
		}
		if q.Tool != "" {
			i.ToolCallID = v.callID(turn.CallOf(q))
		}
		out.Interrupts = append(out.Interrupts, i)
	}
	v.finishSteps()
	v.send(event{Type: "MESSAGES_SNAPSHOT", Messages: v.messages})
	v.snapshot(t)
	v.finish(event{Outcome: out})
}

func (v *view) finishSteps() {
	for _, id := range slices.Clone(v.active) {
		v.finishStep(id)
	}
}

func (v *view) finish(e event) {
	e.Type, e.ThreadID, e.RunID = "RUN_FINISHED", v.in.ThreadID, v.in.RunID
	v.send(e)
}

// pause ends the run of the protocol when the session of the run has ended.
func (v *view) pause(t *turn.Turn, status string) {
	if open := v.open(t); len(open) > 0 && status != string(manager.Suspended) {
		v.interrupt(t, open)
		return
	}
	v.send(event{Type: "RUN_ERROR", Code: status, Message: fmt.Sprintf("run %s is %s; repeat the request to watch it when it continues", v.run, status)})
}

// end shows the answer and how the run ended.
func (v *view) end(t *turn.Turn) {
	v.finishSteps()
	if v.hasState {
		v.send(event{Type: "STATE_DELTA", Delta: []operation{{"add", "/usage", t.Usage}}})
	} else {
		v.snapshot(t)
	}
	if t.Status == stop.RunCancelled {
		v.finish(event{Outcome: &outcome{Type: "cancelled"}})
		return
	}
	if t.Status == stop.RunFailed {
		v.send(event{Type: "RUN_ERROR", Code: string(t.Stop.Code), Message: t.Outcome(), Usage: v.usage(t)})
		return
	}
	id := v.run + ":answer"
	v.send(event{Type: "TEXT_MESSAGE_START", MessageID: id, Role: "assistant"})
	if text := t.Outcome(); text != "" {
		v.send(event{Type: "TEXT_MESSAGE_CONTENT", MessageID: id, Delta: text})
	}
	v.send(event{Type: "TEXT_MESSAGE_END", MessageID: id})
	v.finish(event{Outcome: &outcome{Type: "success"}, Result: &result{v.run, string(t.Status), string(t.Stop.Code), t.Answer}, Usage: v.usage(t)})
}

// usage returns the tokens by model. A run of the protocol that continues another one must
// not count those of the other one again, so it reports none; the state has the totals.
func (v *view) usage(t *turn.Turn) (all []tokenUsage) {
	if v.after > 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.Usage.ByModel)) {
		u := t.Usage.ByModel[name].Tokens
		all = append(all, tokenUsage{name, u.Input, u.Output, u.Total(), u.Reasoning, u.Cached, u.CacheWrite})
	}
	return all
}
