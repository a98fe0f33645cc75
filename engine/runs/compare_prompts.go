package runs

import (
	"slices"

	"github.com/pexctl/pex/engine"
)

// PromptChange is a prompt template that differs.
type PromptChange struct {
	Names []string `json:"names"` // of the prompts with this change; see engine.Prompt
	Diff  string   `json:"diff"`
}

// promptChanges returns how the prompt templates of two runs differ.
func promptChanges(a, b *Run, t Formatter) (out []PromptChange) {
	type texts struct{ before, after string }
	var changed []texts
	after := b.Program.AllPrompts()
	add := func(name, before, now string) {
		if i := slices.Index(changed, texts{before, now}); i >= 0 {
			out[i].Names = append(out[i].Names, name)
			return
		}
		changed = append(changed, texts{before, now})
		out = append(out, PromptChange{[]string{name}, t.Diff(a.Start.Input.RunID, line(before), b.Start.Input.RunID, line(now))})
	}
	for _, p := range a.Program.AllPrompts() {
		i := promptNamed(after, p.Name)
		switch {
		case i < 0:
			add(p.Name, p.Text, "")
		case after[i].Text != p.Text:
			add(p.Name, p.Text, after[i].Text)
		}
		if i >= 0 {
			after = slices.Delete(after, i, i+1)
		}
	}
	for _, p := range after {
		add(p.Name, "", p.Text)
	}
	return slices.DeleteFunc(out, func(c PromptChange) bool { return c.Diff == "" })
}

func promptNamed(all []engine.Prompt, name string) int {
	return slices.IndexFunc(all, func(p engine.Prompt) bool { return p.Name == name })
}
