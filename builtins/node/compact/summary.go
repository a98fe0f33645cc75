package compact

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"strings"

	"github.com/pexctl/pex/builtins/node/render"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

//go:embed summarizer.md
var summarizerPrompt string

// summarize replaces the oldest pairs with a summary: a cached one of this run, or a new
// one. If no summary can be created, the conversation is left unchanged and a warning is
// added.
func (x Compaction) summarize(r *engine.Summarization) error {
	x.withNote("summarize (an earlier summary)", x.applyCached)
	n, memo := x.Conversation.Pairs()-r.Keep, x.Conversation.Memory()
	if n <= 0 || memo.SummaryFailed || x.Scope.View().Stop != nil || !x.applies(r.When, "summarize") {
		return nil // the reserved tokens of an ending run are for its answer
	}
	reply, err := x.Scope.Model("summary", model.Call{
		Role: "summarizer", LLM: r.LLM, StepID: x.Step.ID, Step: x.Step.Goal, Messages: x.request(r, n),
	})
	if err != nil {
		if model.AsError(err) == nil {
			return err
		}
		x.giveUp(err.Error())
		return nil
	}
	if x.OnUsage != nil {
		x.OnUsage(reply.Usage)
	}
	text, wrong := summaryOf(reply)
	if wrong != "" {
		x.giveUp(wrong)
		return nil
	}
	x.withNote("summarize", func() { wrong = x.addSummary(engine.Recap{Of: x.keys()[n-1], Text: text}, n) })
	if wrong != "" {
		x.giveUp(wrong)
	}
	return nil
}

// giveUp disables summaries for this conversation and adds a warning.
func (x Compaction) giveUp(why string) {
	x.Conversation.Memory().SummaryFailed = true
	x.warnOnce("the conversation was not summarized: " + why)
}

// applyCached applies the cached summary that replaces the most pairs.
func (x Compaction) applyCached() {
	v := x.Scope.View()
	if len(v.State.Recaps) == 0 {
		return
	}
	keys := x.keys()
	for n := len(keys); n > 0; n-- {
		if r, ok := v.State.Recap(keys[n-1]); ok {
			if undo, longer := x.replaceOldest(n, r); longer {
				undo()
			}
			return
		}
	}
}

// addSummary applies a new summary and records it in the run.
func (x Compaction) addSummary(r engine.Recap, n int) (wrong string) {
	undo, longer := x.replaceOldest(n, r)
	if longer {
		undo()
		return "the summary is longer than the messages it replaces"
	}
	x.Scope.Record(engine.Summarized{Recap: r})
	return ""
}

func (x Compaction) replaceOldest(n int, r engine.Recap) (undo func(), longer bool) {
	before := x.Conversation.Size().Tokens
	undo = x.Conversation.Drop(n, r)
	return undo, x.Conversation.Size().Tokens >= before
}

// keys returns the cache keys of summaries of the first pair, the first two pairs, and so
// on. Each key is a hash of the previous key and the pair.
func (x Compaction) keys() []string {
	out := make([]string, x.Conversation.Pairs())
	last := x.Conversation.Memory().Recap.Of
	for i := range out {
		sum := sha256.Sum256([]byte(last + "\n" + x.Conversation.Key(i)))
		last = hex.EncodeToString(sum[:])
		out[i] = last
	}
	return out
}

// request returns the messages that ask for a summary of the n oldest pairs and the
// previous recap.
func (x Compaction) request(r *engine.Summarization, n int) []model.Message {
	system := model.Text{summarizerPrompt}
	if !r.Prompt.IsZero() {
		system = r.Prompt.Render(x.Lookup)
	}
	user := model.Text{"Objective of the task: ", x.Scope.View().State.Question, "\n"}
	if recap := x.Conversation.Memory().Recap.Text; recap != "" {
		user = append(render.Fenced(append(user, "\nNotes so far:\n"), recap), "\n")
	}
	user = append(user, "\nNew messages to add to the notes, oldest first:\n")
	for i := range n {
		user = append(append(user, "\n"), x.Conversation.Text(i)...)
	}
	return []model.Message{{Role: model.System, Text: system}, {Role: model.User, Text: user}}
}

// summaryOf returns the summary in a reply, or what is wrong with the reply.
func summaryOf(r *model.Reply) (text, wrong string) {
	text = strings.TrimSpace(r.Text)
	switch {
	case r.Stop == model.Refusal || r.Stop == model.ContentFiltered || r.Stop == model.Guardrail:
		return "", "the model refused (" + string(r.Stop) + ")"
	case r.Stop == model.MaxTokens:
		return "", "the summary was cut off at the output limit"
	case text == "":
		return "", "the summary is empty"
	}
	return text, ""
}
