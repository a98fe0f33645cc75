package prompt

import (
	"fmt"
	"slices"
)

// promptsNamespace is the namespace of named prompts within a prompt.
const promptsNamespace = "prompts"

// namespaces returns the words that expand here.
func (p *parser) namespaces() []string {
	if p.options.Partial == nil {
		return p.options.Namespaces
	}
	return append(slices.Clip(p.options.Namespaces), promptsNamespace)
}

// include replaces a reference by a named prompt. The prompt is part of the
// source, not a value: its references belong to this template.
func (p *parser) include(at, end int, r *reference) {
	if r.hasDefault {
		p.report(BadName, at, end, fmt.Sprintf("%s.%s is a prompt and always defined, so it cannot have a default", promptsNamespace, r.name), "write "+p.src[at:at+2]+promptsNamespace+"."+r.name+string(closing(p.src[at+1])))
		return
	}
	if r.partial = p.options.Partial(r.name, at); r.partial == nil {
		r.partial = &Template{static: []string{}} // already reported
		return
	}
	for _, name := range r.partial.names {
		p.addFull(name)
	}
}
