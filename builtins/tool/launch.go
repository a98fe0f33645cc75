package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
)

// launch describes what a runner in argv runs.
type launch struct {
	at       int  // index of the element with args that would be run, 0 = none
	operands int  // number of operands that belong to the runner
	end      int  // index of the last element that belongs to the runner, 0 = unknown
	inline   bool // the script is in argv
	off      bool // an option makes the runner ignore its operands
	reads    bool // an option, or the operand -, makes the runner run stdin
}

// checkRunners returns faults for positions where a value of args would be run.
func (c *CommandConfig) checkRunners() (out component.Faults) {
	launched := false
	for i := range c.Argv {
		r, ok := runnerOf(c.Argv[i].Text)
		if !ok || i > 0 && !launched || len(references(c.Argv[i].Visit)) > 0 {
			continue
		}
		found := c.launchOf(r, i)
		if found.at > 0 {
			return append(out, component.Fault{
				At:      fmt.Sprintf("/argv/%d", found.at),
				Message: fmt.Sprintf("argv[%d] is %s: %s would run as code", found.at, r.what, values(c.Argv[found.at])), Hint: cmp.Or(r.fix, wayOut),
			})
		}
		if r.runsStdin(found) && len(references(c.Stdin.Visit)) > 0 {
			return append(out, component.Fault{
				At:      "/stdin",
				Message: fmt.Sprintf("%s reads %s from stdin: %s would run as code", c.Argv[i].Text, cmp.Or(r.what, script), values(c.Stdin)), Hint: wayOut,
			})
		}
		if _, another := runnerOf(c.Argv[found.end].Text); found.end > 0 && !another {
			return nil // the rest are arguments of the script
		}
		launched = launched || r.launches
	}
	return nil
}

// values describes the values that a model puts into a template: the value of
// ${args.x}.
func values(t component.Template) string {
	var refs []string
	for _, name := range references(t.Visit) {
		if ref := "${args." + name + "}"; !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	if len(refs) == 1 {
		return "the value of " + refs[0]
	}
	return "the values of " + strings.Join(refs, ", ")
}

// runsStdin reports whether a runner runs its standard input.
func (r runner) runsStdin(found launch) bool {
	return r.stdin == lines || r.stdin == bare && (found.reads || found.operands < max(r.from, 1) && found.end == 0 && !found.off)
}

// launchOf returns what the runner at index at runs.
func (c *CommandConfig) launchOf(r runner, at int) (out launch) {
	ended, verb := false, ""
	for i := at + 1; i < len(c.Argv); i++ {
		text, before := authored(c.Argv[i].Text), c.Argv[i-1].Text
		filled := c.free(c.Argv[i])
		switch first := i == at+1; {
		case verb != "":
			if filled && (matches(r.verbs, verb+" "+before) || hasAttachedValue(r.verbs, verb+" "+text)) {
				out.at = i
			}
		case !first && !ended && matches(r.options, before):
			if filled {
				out.at = i
			} else if matches(r.endingOptions, before) {
				out.end = i
			}
		case !first && !ended && matches(r.valueOptions, before):
		case !ended && text == "--":
			ended = true
		case !ended && text != "-" && strings.HasPrefix(text, "-"):
			if filled && (hasAttachedValue(r.options, text) || hasAttachedValue(r.inline, text)) {
				out.at = i
			}
			out.option(r, text)
		case r.launches && assignment().MatchString(text):
			if name, _, _ := strings.Cut(text, "="); filled && controlVariables.MatchString(name) {
				out.at = i
			}
		case out.operands == 0 && matches(r.modes, c.Argv[i].Text):
		default:
			if out.operand(r, i, c.Argv[i].Text, filled); r.verbs != nil {
				verb = text
			}
			if r.launches && r.from > 0 && r.to >= 0 && out.operands >= r.from {
				return out // the rest belongs to another program
			}
		}
		if out.at > 0 || out.end > 0 {
			return out
		}
	}
	return out
}

// option handles one of the runner's own options.
func (out *launch) option(r runner, text string) {
	name, _, _ := strings.Cut(text, "=")
	out.inline = out.inline || matches(r.inline, name)
	out.reads = out.reads || matches(r.stdinOptions, name)
	out.off = out.off || matches(r.ignoreOperands, name) || matches(r.stdinOptions, name)
}

// operand handles the operand at index i.
func (out *launch) operand(r runner, i int, text string, filled bool) {
	out.operands++
	last := r.to
	if last == 0 {
		last = r.from
	}
	if r.from == 0 || out.operands < r.from || last > 0 && out.operands > last {
		return
	}
	if filled && !out.off {
		out.at = i
	}
	out.reads = out.reads || text == "-" && r.stdin != data
	if r.operandEnds {
		out.end = i
	}
}

var assignment = text.Regexp(`^[A-Za-z_][A-Za-z0-9_]*=`)

func matches(options *words, element string) bool {
	return options != nil && options.MatchString(element)
}

// hasAttachedValue reports whether an element starts with one of the options and has its
// value attached.
func hasAttachedValue(options *words, element string) bool {
	for end := len(element); end > 1 && options != nil; end-- {
		if options.MatchString(strings.TrimSuffix(element[:end], "=")) {
			return true
		}
	}
	return false
}

// authored returns the part of an element before the first reference.
func authored(text string) string {
	if at := reference().FindStringIndex(text); at != nil {
		return text[:at[0]]
	}
	return text
}

var reference = text.Regexp(`\$[{<]`)

// free reports whether a model can put arbitrary text into an element.
func (c *CommandConfig) free(t component.Template) bool {
	return len(references(t.Visit)) > 0 && !c.declared(t, func(pattern string) bool {
		return strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$") && !strings.Contains(pattern, "|")
	})
}

// declared reports whether the input schema restricts all arguments in an element: each
// is a number, a boolean, or has an enum, a const, or a pattern that is strict enough.
func (c *CommandConfig) declared(arg component.Template, strict func(pattern string) bool) bool {
	var schema struct {
		Properties map[string]struct {
			Type    any               `json:"type"`
			Enum    []json.RawMessage `json:"enum"`
			Const   json.RawMessage   `json:"const"`
			Pattern string            `json:"pattern"`
		} `json:"properties"`
	}
	if len(c.InputSchema.JSON) == 0 || json.Unmarshal(c.InputSchema.JSON, &schema) != nil {
		return false
	}
	names := source{visit: arg.Visit}.arguments()
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		p := schema.Properties[name]
		plain := p.Type == "integer" || p.Type == "number" || p.Type == "boolean"
		return !plain && len(p.Enum) == 0 && len(p.Const) == 0 && !strict(p.Pattern)
	})
}
