package host

import (
	"maps"

	"github.com/pexctl/pex/dsl/edit"
	"github.com/pexctl/pex/engine"
)

// RecordEdits adds edits of prompts to the origin of a program that contains them. Earlier
// edits that the program no longer contains are dropped.
func RecordEdits(o *engine.Origin, edits map[string]string, p *engine.Program) {
	all := maps.Clone(o.Prompts)
	if all == nil {
		all = map[string]string{}
	}
	for name, text := range edits {
		all[edit.Canonical(name)] = text
	}
	o.Prompts = nil
	for _, q := range p.AllPrompts() {
		if text, ok := all[q.Name]; ok && text == q.Text {
			if o.Prompts == nil {
				o.Prompts = map[string]string{}
			}
			o.Prompts[q.Name] = text
		}
	}
}
