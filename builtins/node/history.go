package node

import (
	"slices"

	"github.com/pexctl/pex/builtins/node/compact"
	"github.com/pexctl/pex/builtins/node/render"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// promptHistory is the conversation that planner, reflector and finalizer render into one
// prompt: the earlier turns with the user, then the steps with their results. Compaction
// removes only results; the goal, status and error of a step are kept.
type promptHistory struct {
	s         engine.Scope
	render    func() []model.Message
	state     *engine.State        // the state to render
	fullChat  []memory.Interaction // its earlier turns before compaction, used for keys
	fullSteps []plan.StepRecord    // its steps before compaction, used for keys
	chat      int                  // number of earlier turns in the prompt
	steps     int                  // number of steps with results in the prompt
	dropped   int                  // number of pairs dropped, first from chat, then from steps
	memo      compact.Memory
}

var _ compact.Conversation = (*promptHistory)(nil)

// promptParts states which pairs a prompt shows: earlier turns, and steps.
type promptParts struct{ chat, steps bool }

// partsOf returns what a template shows, judged by the variables it uses. A parameter of
// the run with the same name hides the engine's variable.
func partsOf(template component.PromptRef, x *values) promptParts {
	uses := func(name string) bool {
		_, hidden := x.v.State.Parameters[name]
		return !hidden && template.Uses("parameters."+name)
	}
	steps := uses("completed_steps") || uses("plan_progress") // also shows the earlier turns, unless the prompt places them elsewhere: see values.showHistory
	return promptParts{chat: steps || uses("chat_history"), steps: steps}
}

// renderCompacted renders a prompt of x. If the spec configures compaction, it first
// compacts the state in x.
func renderCompacted(s engine.Scope, x *values, shows promptParts, render func() []model.Message) ([]model.Message, error) {
	if !compact.Enabled(x.v.Program) {
		return render(), nil
	}
	state := &x.v.State
	o := &promptHistory{s: s, render: render, state: state, fullChat: state.History, fullSteps: state.Steps}
	if shows.chat {
		o.chat = len(state.History)
	}
	if shows.steps {
		o.steps = len(state.Steps)
	}
	if err := (compact.Compaction{Scope: s, Conversation: o, Lookup: valuesOf(&x.v, "").lookup}).Run(); err != nil {
		return nil, err
	}
	return o.messages(), nil
}

// messages returns the rendered prompt, followed by the recap if there is one.
func (o *promptHistory) messages() []model.Message {
	out := o.render()
	if o.memo.Recap.Text != "" {
		last := &out[len(out)-1]
		text := append(slices.Clip(last.Text), "\n\n", recapIntro, "\nNotes:\n")
		last.Text = render.Fenced(text, o.memo.Recap.Text)
	}
	return out
}

// Size counts a pair as two messages, as if it were sent separately.
func (o *promptHistory) Size() exprenv.Memory {
	env := compact.Estimate(o.messages(), 0)
	env.Messages += 2 * o.Pairs()
	return env
}

func (o *promptHistory) Memory() *compact.Memory { return &o.memo }

func (o *promptHistory) Pairs() int { return o.chat + o.steps - o.dropped }

func (o *promptHistory) Key(i int) string {
	i += o.dropped
	if i < o.chat {
		in := o.fullChat[i]
		return "chat\x00" + in.ID + "\x00" + in.Question + "\x00" + in.Answer
	}
	rec := o.fullSteps[i-o.chat]
	return "step\x00" + rec.ID + "\x00" + string(rec.Status) + "\x00" + rec.Result + "\x00" + rec.Notes
}

func (o *promptHistory) Text(i int) model.Text {
	i += o.dropped
	if i < o.chat {
		return render.Chat(o.fullChat[i : i+1])
	}
	at := i - o.chat
	return render.Completed(o.state.Steps[at : at+1])
}

// ShortenOutputs implements compact.Conversation. Tool outputs are the notes and results
// that steps copied from their tools.
func (o *promptHistory) ShortenOutputs(bytes int) {
	if o.steps < 2 {
		return
	}
	steps := slices.Clone(o.state.Steps)
	for i := range len(steps) - 1 {
		rec := &steps[i]
		rec.Notes = render.Shorten(rec.Notes, bytes)
		if slices.ContainsFunc(rec.ToolCalls, func(c tool.Record) bool { return c.Text() == rec.Result }) {
			rec.Result = render.Shorten(rec.Result, bytes)
		}
	}
	o.state.Steps = steps
}

// removedText replaces a dropped result.
const removedText = "(removed to save space)"

// Drop implements compact.Conversation.
func (o *promptHistory) Drop(n int, r engine.Recap) (undo func()) {
	before, history, steps := *o, o.state.History, o.state.Steps
	if r.Text != "" {
		o.memo.Recap = r
	}
	o.state.History, o.state.Steps = slices.Clone(history), slices.Clone(steps)
	for i := o.dropped; i < o.dropped+n; i++ {
		if i < o.chat {
			shortenDropped(&o.state.History[i].Answer)
			continue
		}
		rec := &o.state.Steps[i-o.chat]
		shortenDropped(&rec.Result)
		rec.Notes = ""
	}
	o.dropped += n
	return func() {
		*o = before
		o.state.History, o.state.Steps = history, steps
	}
}

func shortenDropped(text *string) {
	if len(*text) > len(removedText) {
		*text = removedText
	}
}

// Note implements compact.Conversation. It adds a line before the prompt.
func (o *promptHistory) Note(text string) {
	o.s.Record(engine.MessagesAdded{Messages: []model.Message{{Role: model.System, Text: model.Text{text}}}})
}
