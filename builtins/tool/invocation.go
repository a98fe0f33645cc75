package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/process"
)

const (
	keyVariable     = "PEX_IDEMPOTENCY_KEY"
	contextVariable = "PEX_CONTEXT"
	maxContextBytes = 96 << 10 // Linux allows 128 KiB for one variable
	maxLineText     = 200      // bytes of a command line in a description
)

// environment is the whole environment of the child, sorted, and its PATH.
func (t *command) environment(look component.Lookup, call *tool.Call) (env []string, path string, err error) {
	values := process.Inherited(machine(t.env))
	if call.Key != "" {
		values[keyVariable] = call.Key
	}
	if call.Context != nil {
		values[contextVariable] = string(call.Context.JSON(maxContextBytes))
	}
	for name, value := range t.config.Env {
		values[name] = value.Render(look)
	}
	env, err = process.Environ(values)
	return env, values["PATH"], err
}

// check finds the places in which a model would choose what is run.
func (c *CommandConfig) check() (out component.Faults) {
	if len(c.Argv) == 0 || c.Argv[0].Text == "" {
		return component.Faults{{At: "/argv", Message: "argv must name a program", Hint: "write it first, and what it is given behind it"}}
	}
	if len(references(c.Argv[0].Visit)) > 0 {
		return component.Faults{{At: "/argv/0", Message: "argv[0] must not come from args: a model would choose the program", Hint: "name it, and pass args behind it"}}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		at := "/env" + component.Key(name)
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			out = append(out, component.Fault{At: at, Message: fmt.Sprintf("%q cannot be the name of an environment variable", name)})
		case steering.MatchString(name) && len(references(c.Env[name].Visit)) > 0:
			out = append(out, component.Fault{At: at, Message: "env." + name + " must not come from args: it says what programs are run", Hint: "pass args in a variable of another name"})
		}
	}
	return append(out, c.checkRunners()...)
}

// schema is the input schema of a command that declares none.
func (c *CommandConfig) schema() string {
	var all []source
	for _, t := range append(slices.Clone(c.Argv), c.Stdin) {
		all = append(all, source{text: t.Text, visit: t.Visit})
	}
	return inputSchema(append(all, sources("", c.Env)...))
}

// line is the command as its author wrote it.
func (c *CommandConfig) line() string {
	words := make([]string, len(c.Argv))
	for i, arg := range c.Argv {
		words[i] = arg.Text
	}
	return clip(strings.Join(words, " "))
}
