package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// modelled stands before each text of args when it is asked where the start of an
// element comes from.
const modelled = "\x01"

// argument is one element of argv with its values. A value that a model wrote
// cannot become an option: an element that starts with a dash of the model's is
// refused, unless its author says that it may.
func (t *command) argument(i int, look component.Lookup) (string, error) {
	arg := t.config.Argv[i]
	value := arg.Render(look)
	if !strings.HasPrefix(value, "-") || t.config.AllowDash || !strings.HasPrefix(arg.Render(marked(look)), modelled) || t.config.settled(i) {
		return value, nil
	}
	name := strings.Join(references(arg.Visit), " and ")
	return "", fmt.Errorf("argument %q starts with a dash, so %s could take it for an option: %.80q; pass a value that starts otherwise, such as ./-x for a file of that name (where it is meant, the author of the tool declares a number or writes -- before it)",
		name, t.config.Argv[0].Text, value)
}

// marked are values of which the texts of args can be told from what an author
// wrote. Numbers stay: a negative one is no option.
func marked(look component.Lookup) component.Lookup {
	return func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if text, isText := v.(string); isText && ns == "args" {
			return modelled + text, ok
		}
		return v, ok
	}
}

// settled says whether an author has settled that an element is no option:
// "--" stands before it, it is an argument of a script, or its form is declared.
func (c *CommandConfig) settled(i int) bool {
	return c.behindDashes(i) || c.behindScript(i) || c.declared(c.Argv[i], func(pattern string) bool { return strings.HasPrefix(pattern, "^") })
}

// behindDashes says whether "--" ends the options before an element. Of a
// program that starts another one it may end the options of the first alone;
// there only values may stand between.
func (c *CommandConfig) behindDashes(i int) bool {
	end := slices.IndexFunc(c.Argv[:i], func(t component.Template) bool { return t.Text == "--" })
	if end < 0 {
		return false
	}
	if r, ok := runnerOf(c.Argv[0].Text); !ok || !r.launches {
		return true
	}
	for j := i - 1; j > 0; j-- {
		if c.Argv[j].Text == "--" {
			return true
		}
		if authored(c.Argv[j].Text) != "" {
			return false
		}
	}
	return false
}

// behindScript says whether an element is handed to the script in argv: shells
// and Python look for no options behind its text.
func (c *CommandConfig) behindScript(i int) bool {
	r, ok := runnerOf(c.Argv[0].Text)
	if !ok || r.inline == nil {
		return false
	}
	found := c.runs(r, 0)
	return found.inline && found.end > 0 && found.end < i
}
