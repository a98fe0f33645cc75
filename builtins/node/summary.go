package node

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pexctl/pex/engine"
)

// summarize replaces the oldest pairs by a summary: one that the run has
// already, else one that a model makes. What cannot be summed up stays as it
// was: that is a warning, not the end of the run.
func (x compaction) summarize(r *engine.Summarization) error {
	x.told("summarize (an earlier summary)", x.recall)
	n, memo := x.c.pairs()-r.Keep, x.c.notes()
	if n <= 0 || memo.vain || x.s.View().Stop != nil || !x.due(r.When, "summarize") {
		return nil // the reserve of a run that ends is for its answer
	}
	reply, err := x.s.Model("summary", engine.ModelCall{
		Role: "summarizer", LLM: r.LLM, StepID: x.step.ID, Step: x.step.Goal, Messages: x.request(r, n),
	})
	if err != nil {
		if engine.AsModelError(err) == nil {
			return err
		}
		x.giveUp(err.Error())
		return nil
	}
	if x.spent != nil {
		x.spent(reply.Usage)
	}
	text, wrong := summaryOf(reply)
	if wrong != "" {
		x.giveUp(wrong)
		return nil
	}
	x.told("summarize", func() { wrong = x.take(engine.Recap{Of: x.keys()[n-1], Text: text}, n) })
	if wrong != "" {
		x.giveUp(wrong)
	}
	return nil
}

// giveUp leaves the conversation as it is, for good.
func (x compaction) giveUp(why string) {
	x.c.notes().vain = true
	x.warn("the conversation was not summed up: " + why)
}

// recall puts in the summary that stands for the most of the pairs there are.
func (x compaction) recall() {
	state := x.s.View().State
	if len(state.Recaps) == 0 {
		return
	}
	keys := x.keys()
	for n := len(keys); n > 0; n-- {
		if r, ok := state.Recap(keys[n-1]); ok {
			if undo, longer := x.fold(n, r); longer {
				undo()
			}
			return
		}
	}
}

// take puts a new summary in and lets the run remember it.
func (x compaction) take(r engine.Recap, n int) (wrong string) {
	undo, longer := x.fold(n, r)
	if longer {
		undo()
		return "the summary is longer than what it sums up"
	}
	x.s.Record(engine.Recapped{Recap: r})
	return ""
}

func (x compaction) fold(n int, r engine.Recap) (undo func(), longer bool) {
	before := x.c.size().Tokens
	undo = x.c.fold(n, r)
	return undo, x.c.size().Tokens >= before
}

// keys are what summaries of the first pair, the first two, ... are known by:
// each is made of the key before it and the pair.
func (x compaction) keys() []string {
	out := make([]string, x.c.pairs())
	last := x.c.notes().recap.Of
	for i := range out {
		sum := sha256.Sum256([]byte(last + "\n" + x.c.key(i)))
		last = hex.EncodeToString(sum[:])
		out[i] = last
	}
	return out
}

// request asks for notes on the n oldest pairs, and on what is already notes.
func (x compaction) request(r *engine.Summarization, n int) []engine.Message {
	system := engine.Text{summarizerPrompt}
	if !r.Prompt.IsZero() {
		system = r.Prompt.Render(valuesOf(x.s.View(), "").lookup)
	}
	user := engine.Text{"The objective of the whole task: ", x.s.View().State.Question, "\n"}
	if recap := x.c.notes().recap.Text; recap != "" {
		user = append(fenced(append(user, "\nThe notes until now:\n"), recap), "\n")
	}
	user = append(user, "\nWhat is to be summed up with them, oldest first:\n")
	for i := range n {
		user = append(append(user, "\n"), x.c.told(i)...)
	}
	return []engine.Message{{Role: engine.System, Text: system}, {Role: engine.User, Text: user}}
}

// summaryOf is the text of a reply, or what is wrong with it.
func summaryOf(r *engine.Reply) (text, wrong string) {
	text = strings.TrimSpace(r.Text)
	switch {
	case r.Stop == engine.Refusal || r.Stop == engine.ContentFiltered || r.Stop == engine.Guardrail:
		return "", "the model refused (" + string(r.Stop) + ")"
	case r.Stop == engine.MaxTokens:
		return "", "the summary was cut off at the output limit"
	case text == "":
		return "", "the summary is empty"
	}
	return text, ""
}
