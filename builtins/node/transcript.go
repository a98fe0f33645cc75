package node

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/node/compact"
	"github.com/pexctl/pex/builtins/node/render"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/tool"
)

// transcript is the conversation of a step: the system prompt, earlier steps as question
// and report, the step itself, and the turns of the model and its tools.
type transcript struct {
	s         engine.Scope    // scope of the current turn
	sent      []model.Message // messages of the next request
	task      int             // index in sent of the step
	recap     int             // index in sent of the summary; 0 = none
	toolChars int             // characters of the tool definitions, which every request includes
	memo      compact.Memory
	full      []model.Message // all messages of the step, once sent has been compacted
	recapKey  string          // key of the last summary added to full
}

var _ compact.Conversation = (*transcript)(nil)

// newTranscript returns a transcript that starts with opening. Its last message is the
// step.
func newTranscript(opening []model.Message, tools []model.ToolDef) *transcript {
	d := &transcript{sent: opening, task: len(opening) - 1}
	for _, t := range tools {
		d.toolChars += len(t.Name) + len(t.Description) + len(t.Input)
	}
	return d
}

// compact shortens the conversation before the next model call.
func (d *transcript) compact(s engine.Scope, a *attempt) error {
	if d.s = s; !compact.Enabled(s.View().Program) {
		return nil
	}
	return compact.Compaction{Scope: s, Conversation: d, Step: a.st, Lookup: currentValues(s, "").lookup, OnUsage: func(t model.Tokens) {
		a.rec.Usage.ModelCalls++
		a.rec.Usage.Tokens = a.rec.Usage.Plus(t)
	}}.Run()
}

// grow appends the messages of longer that are not in sent yet.
func (d *transcript) grow(longer []model.Message) {
	if d.full != nil {
		d.full = append(d.full, longer[len(d.sent):]...)
	}
	d.sent = longer
}

// messages returns all messages of the step, including those that are no longer sent.
func (d *transcript) messages() []model.Message {
	if d.full != nil {
		return d.full
	}
	return d.sent[d.task:]
}

// record adds the step's messages, followed by more, to the conversation of the result.
func (d *transcript) record(s engine.Scope, more ...model.Message) {
	if !s.View().Conversation {
		return
	}
	messages := d.messages()
	s.Record(engine.MessagesAdded{System: d.sent[0].Text, Messages: append(slices.Clip(messages), more...)})
}

// recordReply is record with the last reply of the step.
func (d *transcript) recordReply(s engine.Scope, r *model.Reply, calls []model.ToolCall) {
	if s.View().Conversation {
		d.record(s, model.Message{Role: model.Assistant, Text: textOf(r.Text), Calls: calls, Reply: r})
	}
}

// Note implements compact.Conversation. It adds a line to the conversation.
func (d *transcript) Note(text string) {
	d.snapshot()
	d.full = append(d.full, model.Message{Role: model.System, Text: model.Text{text}})
	if d.memo.Recap.Of != d.recapKey {
		d.full, d.recapKey = append(d.full, d.sent[d.recap]), d.memo.Recap.Of
	}
}

func (d *transcript) Size() exprenv.Memory { return compact.Estimate(d.sent, d.toolChars) }

func (d *transcript) Memory() *compact.Memory { return &d.memo }

func (d *transcript) Pairs() int {
	earlier, turns := d.split()
	return len(earlier) + len(turns)
}

func (d *transcript) pair(i int) []model.Message {
	earlier, turns := d.split()
	if i < len(earlier) {
		return earlier[i]
	}
	return turns[i-len(earlier)]
}

// split returns the pairs before the step and the turns after it. A turn is a reply and
// everything up to the next one, so results stay with their calls.
func (d *transcript) split() (earlier, turns [][]model.Message) {
	for i := 1; i < d.task; {
		if i == d.recap {
			i++
			continue
		}
		end := i + 1
		for end < d.task && d.sent[end].Role != model.User {
			end++
		}
		earlier = append(earlier, d.sent[i:end:end])
		i = end
	}
	for i := d.task + 1; i < len(d.sent); {
		if i == d.recap {
			i++
			continue
		}
		end := i + 1
		for end < len(d.sent) && d.sent[end].Role != model.Assistant {
			end++
		}
		turns = append(turns, d.sent[i:end:end])
		i = end
	}
	return earlier, turns
}

func (d *transcript) Key(i int) string {
	key := make([]byte, 0, 256)
	for _, m := range d.pair(i) {
		key = append(append(key, "\x00"+string(m.Role)+"\x00"+m.CallID+"\x00"...), m.Text.String()...)
		for _, c := range m.Calls {
			key = append(append(key, "\x00"+c.ID+"\x00"+c.Name+"\x00"...), c.Args...)
		}
	}
	return string(key)
}

func (d *transcript) Text(i int) model.Text {
	var out model.Text
	for _, m := range d.pair(i) {
		head := string(m.Role)
		if m.Tool != "" {
			head += " " + m.Tool
		}
		if len(m.Text) > 0 {
			out = append(render.Fenced(append(out, head+":\n"), m.Text.String()), "\n")
		}
		for _, c := range m.Calls {
			out = append(render.Fenced(append(out, head+" calls "+c.Name+":\n"), string(c.Args)), "\n")
		}
	}
	return out
}

// ShortenOutputs implements compact.Conversation. Short messages are left unchanged.
func (d *transcript) ShortenOutputs(bytes int) {
	_, turns := d.split()
	if len(turns) < 2 {
		return
	}
	newest := len(d.sent) - len(turns[len(turns)-1])
	sent := slices.Clone(d.sent)
	for i := d.task + 1; i < newest; i++ {
		if isOutput(sent[i]) {
			sent[i].Text = cutSegments(sent[i].Text, bytes)
		}
	}
	d.snapshot()
	d.sent = sent
}

// isOutput reports whether a message contains tool outputs.
func isOutput(m model.Message) bool {
	return m.Role == model.ToolRole || m.Role == model.User && len(m.Text) > 0 && m.Text[0] == observationPrefix
}

func cutSegments(t model.Text, bytes int) model.Text {
	if !slices.ContainsFunc(t, func(s string) bool { return len(s) > bytes }) {
		return t
	}
	out := slices.Clone(t)
	for i := range out {
		out[i] = render.Shorten(out[i], bytes)
	}
	return out
}

// Drop implements compact.Conversation. The recap takes the place of the dropped pairs:
// after the step if turns of the step are among them. The user's messages among them move
// to the step.
func (d *transcript) Drop(n int, r engine.Recap) (undo func()) {
	before := *d
	earlier, turns := d.split()
	dropped := min(n, len(earlier))
	task := d.sent[d.task]
	task.Text = withTurnMessages(task.Text, turns[:n-dropped])
	earlier, turns = earlier[dropped:], turns[n-dropped:]
	within := d.recap > d.task
	var recap []model.Message
	switch {
	case r.Text != "":
		d.memo.Recap = r
		recap, within = []model.Message{d.recapMessage(r)}, within || n > dropped
	case d.recap > 0:
		recap = d.sent[d.recap : d.recap+1]
	}
	sent := append(make([]model.Message, 0, len(d.sent)+8), d.sent[0])
	d.recap = 0
	if len(recap) > 0 && !within {
		d.recap = len(sent)
		sent = append(sent, recap...)
	}
	sent = append(append(sent, slices.Concat(earlier...)...), task)
	at := len(sent) - 1
	if len(recap) > 0 && within {
		d.recap = len(sent)
		sent = append(sent, recap...)
	}
	d.snapshot()
	d.sent, d.task = append(sent, slices.Concat(turns...)...), at
	return func() { *d = before }
}

// snapshot saves all messages before sent is compacted for the first time.
func (d *transcript) snapshot() {
	if d.full == nil {
		d.full = slices.Clone(d.sent[d.task:])
	}
}

// recapMessage renders a recap after the parts that are never summarized: the plan and
// the outcome of each step.
func (d *transcript) recapMessage(r engine.Recap) model.Message {
	v := d.s.View()
	text := append(model.Text{recapIntro, "\nThe plan and the status of its steps:\n"}, render.Plan(&v.State)...)
	return model.Message{Role: model.User, Text: render.Fenced(append(text, "\nNotes:\n"), r.Text)}
}

// outputOf returns the output of a call as the model reads it. If the arguments differ
// from those that the model wrote, because a human edited them or they were repaired, the
// text starts with that.
func outputOf(rec tool.Record) model.Text {
	switch {
	case rec.Edited:
		return model.Text{"[A reviewer changed the arguments of this call to " + string(rec.Args) + "]\n", rec.Text()}
	case len(rec.Repairs) > 0:
		return model.Text{repairsText(rec.Repairs), rec.Text()}
	}
	return model.Text{rec.Text()}
}

// repairsText tells the model in one line how its arguments were changed to match the
// schema, so that it avoids the mistake next time.
func repairsText(repairs []tool.ArgsRepair) string {
	const most = 3
	var named []string
	for i, r := range repairs {
		switch {
		case i == most:
			named = append(named, fmt.Sprintf("and %d more", len(repairs)-most))
		case i > most:
		case r.Path == "":
			named = append(named, r.Repair)
		default:
			named = append(named, fmt.Sprintf("%s: %s, %s was read as %s", r.Path, r.Repair, shortValue(r.Written), shortValue(r.Used)))
		}
	}
	return "[The arguments of this call were repaired to match the schema: " + strings.Join(named, "; ") + "]\n"
}

// shortValue returns a value for use in a note, or "..." if it is long.
func shortValue(v json.RawMessage) string {
	if len(v) > 60 {
		return "it"
	}
	return string(v)
}
