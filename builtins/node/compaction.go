package node

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// conversation is what a role is about to send, seen as pairs: a question and
// its answer, a model's turn and the results of its calls, a step and its
// result. Pairs are shortened, summed up and left out, never taken apart; who
// speaks and what is asked now are in none of them and always stay.
type conversation interface {
	// size is an estimate of the request as it would be made now.
	size() engine.MemoryEnv
	// pairs is how many are still there.
	pairs() int
	// key tells the i-th pair from others, oldest first.
	key(i int) string
	// told is the i-th pair as a text.
	told(i int) engine.Text
	// cut shortens the tool outputs that are longer, but not in the newest pair.
	cut(bytes int)
	// fold takes the n oldest pairs out. A recap takes their place, and that of
	// the recap before it; without a text the one before it stays.
	fold(n int, r engine.Recap) (undo func())
	// notes are what is remembered of the folds before.
	notes() *notes
	// tell lets people who read the conversation know.
	tell(text string)
}

// notes are what a conversation remembers of being shortened.
type notes struct {
	recap engine.Recap
	vain  bool // no summary could be had: none is asked for again
}

// compaction shortens one conversation by the rules of `memory.compaction`.
type compaction struct {
	s     engine.Scope
	c     conversation
	step  engine.Step         // it belongs to, if any
	spent func(engine.Tokens) // told what a summary took
}

// run applies the rules in their order, each when its condition holds on what
// the ones before it left.
func (x compaction) run() error {
	rules := x.s.View().Program.Memory.Compaction
	if r := rules.TruncateToolOutput; r != nil && x.due(r.When, "truncate_tool_output") {
		x.told("truncate_tool_output", func() { x.c.cut(r.MaxBytes) })
	}
	if r := rules.Summarize; r != nil && x.due(r.When, "summarize") {
		if err := x.summarize(r); err != nil {
			return err
		}
	}
	if r := rules.SlidingWindow; r != nil && x.due(r.When, "sliding_window") {
		x.told("sliding_window", func() {
			if n := x.c.pairs() - r.Keep; n > 0 {
				x.c.fold(n, engine.Recap{})
			}
		})
	}
	return nil
}

// compacts says whether the spec wants conversations shortened at all.
func compacts(p *engine.Program) bool { return p.Memory.Compaction != engine.Compaction{} }

// due says whether a rule's condition holds now. One that fails on the values
// there are does not hold, and is told once.
func (x compaction) due(when component.GuardRef, rule string) bool {
	env := x.s.View().Env(when.Source)
	env["memory"] = x.c.size()
	ok, err := when.Eval(env)
	if err != nil {
		x.warn("memory.compaction." + rule + ".when cannot be evaluated: " + err.Error())
	}
	return ok && err == nil
}

// warn tells once what may happen in every turn.
func (x compaction) warn(text string) {
	if !slices.Contains(x.s.View().State.Warnings, text) {
		x.s.Record(engine.Warned{Text: text})
	}
}

// told does something to the conversation and says what it came to.
func (x compaction) told(rule string, do func()) {
	before := x.c.size().Tokens
	do()
	if after := x.c.size().Tokens; after != before {
		x.c.tell("memory.compaction." + rule + ": " + strconv.Itoa(before) + " -> " + strconv.Itoa(after) + " tokens (estimated)")
	}
}

// estimate is the size of messages and of so many characters beside them, in
// the tokens that a provider without figures of its own is charged.
func estimate(messages []engine.Message, beside int) engine.MemoryEnv {
	n := beside
	for i := range messages {
		n += characters(&messages[i])
	}
	return engine.MemoryEnv{Tokens: engine.EstimateTokens(n), Messages: len(messages)}
}

func characters(m *engine.Message) int {
	n := 0
	for _, s := range m.Text {
		n += utf8.RuneCountInString(s)
	}
	for _, c := range m.Calls {
		n += len(c.Name) + utf8.RuneCount(c.Args)
	}
	return n
}

// cutText keeps head and tail of a text that is longer than so many bytes.
func cutText(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	mark := "\n[... the middle of this output was taken out; it had " + strconv.Itoa(len(text)) + " bytes ...]\n"
	room := max(0, bytes-len(mark))
	head, tail := room-room/2, len(text)-room/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	if out := text[:head] + mark + text[tail:]; len(out) < len(text) {
		return out
	}
	return text
}
