package compact

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
)

// Conversation is what a role is about to send, seen as pairs: a question and
// its answer, a model's turn and the results of its calls, a step and its
// result. Pairs are shortened, summed up and left out, never taken apart; who
// speaks and what is asked now are in none of them and always stay.
type Conversation interface {
	// Size is an estimate of the request as it would be made now.
	Size() exprenv.Memory
	// Pairs is how many are still there.
	Pairs() int
	// Key tells the i-th pair from others, oldest first.
	Key(i int) string
	// Text is the i-th pair as a text.
	Text(i int) model.Text
	// ShortenOutputs shortens the tool outputs that are longer, but not in the newest pair.
	ShortenOutputs(bytes int)
	// Drop takes the n oldest pairs out. A recap takes their place, and that of
	// the recap before it; without a text the one before it stays.
	Drop(n int, r engine.Recap) (undo func())
	// Memory is what the conversation remembers of earlier compactions.
	Memory() *Memory
	// Note lets people who read the conversation know.
	Note(text string)
}

// Memory is what a conversation remembers of being shortened.
type Memory struct {
	Recap         engine.Recap
	SummaryFailed bool // no summary could be had: none is asked for again
}

// Compaction shortens one conversation by the rules of `memory.compaction`.
type Compaction struct {
	Scope        engine.Scope
	Conversation Conversation
	Step         plan.Step // it belongs to, if any
	// lookup gives the values of the summarizer's prompt.
	Lookup  component.Lookup
	OnUsage func(model.Tokens) // receives the usage of a summary
}

// Run applies the rules in their order, each when its condition holds on what
// the ones before it left.
func (x Compaction) Run() error {
	rules := x.Scope.View().Program.Memory.Compaction
	if r := rules.TruncateToolOutput; r != nil && x.due(r.When, "truncate_tool_output") {
		x.logged("truncate_tool_output", func() { x.Conversation.ShortenOutputs(r.MaxBytes) })
	}
	if r := rules.Summarize; r != nil && x.due(r.When, "summarize") {
		if err := x.summarize(r); err != nil {
			return err
		}
	}
	if r := rules.SlidingWindow; r != nil && x.due(r.When, "sliding_window") {
		x.logged("sliding_window", func() {
			if n := x.Conversation.Pairs() - r.Keep; n > 0 {
				x.Conversation.Drop(n, engine.Recap{})
			}
		})
	}
	return nil
}

// Enabled says whether the spec wants conversations shortened at all.
func Enabled(p *engine.Program) bool { return p.Memory.Compaction != engine.Compaction{} }

// due says whether a rule's condition holds now. One that fails on the values
// there are does not hold, and is reported once.
func (x Compaction) due(when component.GuardRef, rule string) bool {
	env := x.Scope.View().Env(when.Source)
	env["memory"] = x.Conversation.Size()
	ok, err := when.Eval(env)
	if err != nil {
		x.warn("memory.compaction." + rule + ".when cannot be evaluated: " + err.Error())
	}
	return ok && err == nil
}

// warn tells once what may happen in every turn.
func (x Compaction) warn(text string) {
	if !slices.Contains(x.Scope.View().State.Warnings, text) {
		x.Scope.Record(engine.WarningAdded{Text: text})
	}
}

// logged does something to the conversation and says what it came to.
func (x Compaction) logged(rule string, do func()) {
	before := x.Conversation.Size().Tokens
	do()
	if after := x.Conversation.Size().Tokens; after != before {
		x.Conversation.Note("memory.compaction." + rule + ": " + strconv.Itoa(before) + " -> " + strconv.Itoa(after) + " tokens (estimated)")
	}
}

// Estimate is the size of messages and of so many characters beside them, in
// the tokens that a provider without figures of its own is charged.
func Estimate(messages []model.Message, beside int) exprenv.Memory {
	n := beside
	for i := range messages {
		n += characters(&messages[i])
	}
	return exprenv.Memory{Tokens: model.EstimateTokens(n), Messages: len(messages)}
}

func characters(m *model.Message) int {
	n := 0
	for _, s := range m.Text {
		n += utf8.RuneCountInString(s)
	}
	for _, c := range m.Calls {
		n += len(c.Name) + utf8.RuneCount(c.Args)
	}
	return n
}
