package tool

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// modelMark marks the texts of args, to find out where the start of an argv element comes
// from.
const modelMark = "\x01"

// argument returns one element of argv with its values. A value from the model cannot
// become an option: an element that starts with a dash from the model is rejected unless
// the author allowed it.
func (t *command) argument(i int, look component.Lookup) (string, error) {
	arg := t.config.Argv[i]
	value := arg.Render(look)
	if !strings.HasPrefix(value, "-") || t.config.AllowDash || !strings.HasPrefix(arg.Render(markArgs(look)), modelMark) || t.config.notAnOption(i) {
		return value, nil
	}
	name := strings.Join(references(arg.Visit), " and ")
	return "", fmt.Errorf("argument %q starts with a dash, so %s could take it for an option: %.80q; -x for a file of that name (where it is meant, the author of the tool declares a number or writes -- before it)/-x for a file of that name (where it is meant, the author of the tool declares a number or writes -- before it)",
		name, t.config.Argv[0].Text, value)
}

// markArgs marks the texts of args so that they differ from the author's. It leaves
// numbers unmarked, since a negative number is not an option.
func markArgs(look component.Lookup) component.Lookup {
	return func(ns, name string) (any, bool) {
		v, ok := look(ns, name)
		if text, isText := v.(string); isText && ns == "args" {
			return modelMark + text, ok
		}
		return v, ok
	}
}

// notAnOption reports whether the author ruled out that an element is an option: it
// follows "--", it is an argument of a script, or the schema restricts it.
func (c *CommandConfig) notAnOption(i int) bool {
	return c.afterDashes(i) || c.afterScript(i) || c.declared(c.Argv[i], func(pattern string) bool { return strings.HasPrefix(pattern, "^") })
}

// afterDashes reports whether "--" ends the options before an element. If the program
// starts another one, "--" may end only the options of the first, so only values may come
// between.
func (c *CommandConfig) afterDashes(i int) bool {
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

// afterScript reports whether an element is passed to an inline script. Shells and Python
// parse no options after it.
func (c *CommandConfig) afterScript(i int) bool {
	r, ok := runnerOf(c.Argv[0].Text)
	if !ok || r.inline == nil {
		return false
	}
	found := c.launchOf(r, 0)
	return found.inline && found.end > 0 && found.end < i
}
