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

// ran is what a runner in argv runs.
type ran struct {
	at       int  // the element with args that would be run, 0 = none
	operands int  // how many it has, as far as they are its own
	end      int  // the element behind which nothing is its own, 0 = none
	inline   bool // the script stands in argv
	off      bool // an option says that the operands are not run
	reads    bool // an option, or - for an operand, says that stdin is run
}

// checkRunners looks for places in which a value of args would be run.
func (c *CommandConfig) checkRunners() (out component.Faults) {
	launched := false
	for i := range c.Argv {
		r, ok := runnerOf(c.Argv[i].Text)
		if !ok || i > 0 && !launched || len(references(c.Argv[i].Visit)) > 0 {
			continue
		}
		found := c.runs(r, i)
		if found.at > 0 {
			return append(out, component.Fault{
				At:      fmt.Sprintf("/argv/%d", found.at),
				Message: fmt.Sprintf("argv[%d] is %s, and args in its text would be run as code", found.at, r.what), Hint: cmp.Or(r.way, wayOut),
			})
		}
		if r.input(found) && len(references(c.Stdin.Visit)) > 0 {
			return append(out, component.Fault{
				At:      "/stdin",
				Message: fmt.Sprintf("%s reads %s from stdin, and args in its text would be run as code", c.Argv[i].Text, cmp.Or(r.what, script)), Hint: wayOut,
			})
		}
		if _, another := runnerOf(c.Argv[found.end].Text); found.end > 0 && !another {
			return nil // what follows are arguments of the script
		}
		launched = launched || r.launches
	}
	return nil
}

// input says whether a runner runs what it reads from stdin.
func (r runner) input(found ran) bool {
	return r.stdin == lines || r.stdin == bare && (found.reads || found.operands < max(r.from, 1) && found.end == 0 && !found.off)
}

// runs is what a runner at a place runs.
func (c *CommandConfig) runs(r runner, at int) (out ran) {
	ended, verb := false, ""
	for i := at + 1; i < len(c.Argv); i++ {
		text, before := authored(c.Argv[i].Text), c.Argv[i-1].Text
		filled := c.free(c.Argv[i])
		switch first := i == at+1; {
		case verb != "":
			if filled && (is(r.verbs, verb+" "+before) || attached(r.verbs, verb+" "+text)) {
				out.at = i
			}
		case !first && !ended && is(r.options, before):
			if filled {
				out.at = i
			} else if is(r.closes, before) {
				out.end = i
			}
		case !first && !ended && is(r.takes, before):
		case !ended && text == "--":
			ended = true
		case !ended && text != "-" && strings.HasPrefix(text, "-"):
			if filled && (attached(r.options, text) || attached(r.inline, text)) {
				out.at = i
			}
			out.option(r, text)
		case r.launches && assignment().MatchString(text):
			if name, _, _ := strings.Cut(text, "="); filled && steering.MatchString(name) {
				out.at = i
			}
		case out.operands == 0 && is(r.skips, c.Argv[i].Text):
		default:
			if out.operand(r, i, c.Argv[i].Text, filled); r.verbs != nil {
				verb = text
			}
			if r.launches && r.from > 0 && r.to >= 0 && out.operands >= r.from {
				return out // the rest is another program's
			}
		}
		if out.at > 0 || out.end > 0 {
			return out
		}
	}
	return out
}

// option takes note of an option that is a runner's own.
func (out *ran) option(r runner, text string) {
	name, _, _ := strings.Cut(text, "=")
	out.inline = out.inline || is(r.inline, name)
	out.reads = out.reads || is(r.reads, name)
	out.off = out.off || is(r.unless, name) || is(r.reads, name)
}

// operand takes note of an operand of a runner at a place.
func (out *ran) operand(r runner, i int, text string, filled bool) {
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
	if r.ends {
		out.end = i
	}
}

var assignment = text.Regexp(`^[A-Za-z_][A-Za-z0-9_]*=`)

func is(options *words, element string) bool {
	return options != nil && options.MatchString(element)
}

// attached says whether an element starts with one of some options: the rest
// is its value.
func attached(options *words, element string) bool {
	for end := len(element); end > 1 && options != nil; end-- {
		if options.MatchString(strings.TrimSuffix(element[:end], "=")) {
			return true
		}
	}
	return false
}

// authored is what an author wrote of an element before the first reference.
func authored(text string) string {
	if at := reference().FindStringIndex(text); at != nil {
		return text[:at[0]]
	}
	return text
}

var reference = text.Regexp(`\$[{<]`)

// free says whether a model can put text of its own into an element.
func (c *CommandConfig) free(t component.Template) bool {
	return len(references(t.Visit)) > 0 && !c.declared(t, func(pattern string) bool {
		return strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$") && !strings.Contains(pattern, "|")
	})
}

// declared says whether the input schema leaves a model no free text in an
// element: each argument in it is a number, true or false, or has an enum, a
// const, or a pattern that is strict enough.
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
