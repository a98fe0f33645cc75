package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/dsl/syntax"
)

// maxPartials is the maximum number of named prompts within one, at any depth;
// maxFile limits their total size in bytes.
const maxPartials = 256

// partials tracks the nesting of named prompts: ${prompts.tone} inserts the text
// of prompts.tone, which sees the same names as the prompt around it.
type partials struct {
	chain    []string // the names that lead here
	texts    []string // inserted texts, in order
	bytes    int      // their total size
	reported bool     // set once their number or size was reported
}

// promptTemplate compiles a text that may contain ${prompts.name}.
func (c *Decoder) promptTemplate(v *syntax.Node, tag reflect.StructTag, names *partials) *prompt.Template {
	o := c.scope(tag.Get("vars"))
	o.Partial = func(name string, offset int) *prompt.Template {
		return c.partial(name, v.PositionAt(offset), tag, names)
	}
	return c.templateOf(v, o)
}

// partial compiles a named prompt within another. It returns nil after reporting
// an error.
func (c *Decoder) partial(name string, at syntax.Position, tag reflect.StructTag, names *partials) *prompt.Template {
	e := c.Language.NamedPrompts().Find(name)
	switch {
	case e == nil:
		c.Report.Error(diag.UnknownPrompt, at, "undefined prompt %s", syntax.Quote(name)).Advice = diag.Suggest(name, c.Language.NamedPrompts().Keys())
		return nil
	case slices.Contains(names.chain, name):
		c.Report.Error(diag.Cycle, at, "the prompt %q includes itself: %s", name, strings.Join(append(slices.Clip(names.chain), name), " -> "))
		return nil
	case len(names.texts) >= maxPartials || names.bytes+len(e.Value.Text) > syntax.MaxFile:
		if !names.reported {
			c.Report.Error(diag.TooLarge, at, "the prompt includes more than %d prompts or %d bytes", maxPartials, syntax.MaxFile)
		}
		names.reported = true
		return nil
	}
	c.Used["prompts."+name] = true
	if e.Value.Kind != syntax.Text {
		return nil // reported with the section
	}
	names.bytes += len(e.Value.Text)
	names.texts = append(names.texts, e.Value.Text)
	names.chain = append(names.chain, name)
	defer func() { names.chain = names.chain[:len(names.chain)-1] }()
	if tag.Get("fork") == "fixed" {
		c.addPrompt(PromptUse{Value: e.Value, Use: name, Fixed: true, Part: true})
	}
	return c.promptTemplate(e.Value, tag, names)
}

// inlined returns a text with the named prompts inserted, for a digest.
func (n *partials) inlined(v *syntax.Node) *syntax.Node {
	out := *v
	if len(n.texts) > 0 {
		out.Text += "\x00" + strings.Join(n.texts, "\x00")
	}
	return &out
}
