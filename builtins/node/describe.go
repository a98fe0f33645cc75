package node

import (
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
)

var (
	_ engine.Describer = (*planner)(nil)
	_ engine.Describer = (*executor)(nil)
	_ engine.Describer = (*reflector)(nil)
	_ engine.Describer = (*finalizer)(nil)
	_ engine.Describer = (*router)(nil)
	_ engine.Describer = (*human)(nil)
	_ engine.Describer = (*transform)(nil)
)

// Describe implements engine.Describer.
func (p *planner) Describe() []graph.Note {
	return promptNotes(p.cfg.SystemPrompt, p.cfg.PlannerPrompt, p.cfg.PlannerPromptTemplate, p.cfg.PlannerWithHistoryTemplate)
}

// Describe implements engine.Describer.
func (x *reflector) Describe() []graph.Note {
	return promptNotes(x.cfg.SystemPrompt, x.cfg.ReflectPrompt, x.cfg.ReflectPromptTemplate)
}

// Describe implements engine.Describer.
func (f *finalizer) Describe() []graph.Note {
	return promptNotes(f.cfg.SystemPrompt, f.cfg.FinalizerPromptTemplate)
}

// Describe implements engine.Describer.
func (t *transform) Describe() []graph.Note { return promptNotes(t.cfg.Template) }

// Describe implements engine.Describer.
func (x *executor) Describe() []graph.Note {
	notes := promptNotes(x.cfg.ExecutorSystemPrompt)
	switch when := x.cfg.Verify.Source; when {
	case "", "none":
	case "judge":
		notes = append(notes, detailNote("a model judges each step"))
	default:
		notes = append(notes, detailNote("step must satisfy "+when))
	}
	return notes
}

// Describe implements engine.Describer.
func (x *router) Describe() []graph.Note {
	notes := promptNotes(x.cfg.Prompt)
	if len(x.cfg.Choices) > 0 {
		notes = append(notes, detailNote("chooses "+strings.Join(x.cfg.Choices, " | ")))
	}
	return notes
}

// Describe implements engine.Describer.
func (h *human) Describe() []graph.Note {
	if name := promptName(h.cfg.Question); name != "" {
		return []graph.Note{{Kind: graph.QuestionNote, Text: name}}
	}
	return []graph.Note{{Kind: graph.QuestionNote, Text: h.cfg.Question.Text}}
}

func detailNote(text string) graph.Note { return graph.Note{Kind: graph.DetailNote, Text: text} }

// promptNotes lists the prompts that have a file or a name. Inline and default prompts
// have neither.
func promptNotes(prompts ...component.PromptRef) (notes []graph.Note) {
	for _, p := range prompts {
		if name := promptName(p); name != "" {
			notes = append(notes, graph.Note{Kind: graph.PromptNote, Text: name})
		}
	}
	return notes
}

// promptName returns the name of a prompt: its entry in prompts, or its file.
func promptName(p component.PromptRef) string {
	if p.Use != "" {
		return p.Use
	}
	return p.File
}
