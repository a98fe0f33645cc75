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

// Conversation is the content of a role's next request, as a list of pairs: a question
// and its answer, a model's turn and the results of its calls, or a step and its result.
// Pairs are shortened, summarized or dropped, but never split. The system prompt and the
// current task belong to no pair and are always kept.
type Conversation interface {
	// Size estimates the size of the request as it is now.
	Size() exprenv.Memory
	// Pairs returns the number of pairs left.
	Pairs() int
	// Key returns a unique key of the i-th pair, oldest first.
	Key(i int) string
	// Text returns the text of the i-th pair.
	Text(i int) model.Text
	// ShortenOutputs shortens tool outputs longer than the given number of bytes, except
	// in the newest pair.
	ShortenOutputs(bytes int)
	// Drop removes the n oldest pairs. If r has a text, it replaces them and the previous
	// recap; otherwise the previous recap is kept.
	Drop(n int, r engine.Recap) (undo func())
	// Memory returns the state of earlier compactions.
	Memory() *Memory
	// Note adds a note for people who read the conversation.
	Note(text string)
}

// Memory is the state of earlier compactions of a conversation.
type Memory struct {
	Recap         engine.Recap
	SummaryFailed bool // a summary could not be created; do not try again
}

// Compaction shortens one conversation by the rules of memory.compaction.
type Compaction struct {
	Scope        engine.Scope
	Conversation Conversation
	Step         plan.Step // the step that the conversation belongs to, if any
	// Lookup returns the variables of the summarizer's prompt.
	Lookup  component.Lookup
	OnUsage func(model.Tokens) // receives the token usage of each summary
}

// Run applies the rules in order. Each rule applies if its condition holds after the
// rules before it.
func (x Compaction) Run() error {
	rules := x.Scope.View().Program.Memory.Compaction
	if r := rules.TruncateToolOutput; r != nil && x.applies(r.When, "truncate_tool_output") {
		x.withNote("truncate_tool_output", func() { x.Conversation.ShortenOutputs(r.MaxBytes) })
	}
	if r := rules.Summarize; r != nil && x.applies(r.When, "summarize") {
		if err := x.summarize(r); err != nil {
			return err
		}
	}
	if r := rules.SlidingWindow; r != nil && x.applies(r.When, "sliding_window") {
		x.withNote("sliding_window", func() {
			if n := x.Conversation.Pairs() - r.Keep; n > 0 {
				x.Conversation.Drop(n, engine.Recap{})
			}
		})
	}
	return nil
}

// Enabled reports whether the spec configures compaction.
func Enabled(p *engine.Program) bool { return p.Memory.Compaction != engine.Compaction{} }

// applies reports whether a rule's condition holds. A condition that fails to evaluate does
// not hold, and adds a warning once per run.
func (x Compaction) applies(when component.GuardRef, rule string) bool {
	v := x.Scope.View()
	env := v.Env(when.Source)
	env["memory"] = x.Conversation.Size()
	ok, err := when.Eval(env)
	if err != nil {
		x.warnOnce("memory.compaction." + rule + ".when cannot be evaluated: " + err.Error())
	}
	return ok && err == nil
}

// warnOnce adds a warning unless the run already has it.
func (x Compaction) warnOnce(text string) {
	if !slices.Contains(x.Scope.View().State.Warnings, text) {
		x.Scope.Record(engine.WarningAdded{Text: text})
	}
}

// withNote runs do and adds a note that compares the sizes before and after.
func (x Compaction) withNote(rule string, do func()) {
	before := x.Conversation.Size().Tokens
	do()
	if after := x.Conversation.Size().Tokens; after != before {
		x.Conversation.Note("memory.compaction." + rule + ": " + strconv.Itoa(before) + " -> " + strconv.Itoa(after) + " tokens (estimated)")
	}
}

// Estimate returns the size of messages plus the given number of characters. Tokens are
// estimated as for providers that report no usage.
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
