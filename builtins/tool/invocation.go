package tool

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/internal/process"
)

const (
	keyVariable = "PEX_IDEMPOTENCY_KEY"
	maxLineText = 200 // bytes of a command line in a description
)

// environment is the whole environment of the child, sorted, and its PATH.
func (t *command) environment(look component.Lookup, key string) (env []string, path string, err error) {
	values := process.Inherited(machine(t.env))
	if key != "" {
		values[keyVariable] = key
	}
	for name, value := range t.config.Env {
		values[name] = value.Render(look)
	}
	env, err = process.Environ(values)
	return env, values["PATH"], err
}

// check refuses commands in which a model would choose what is run.
func (c *CommandConfig) check() error {
	if len(c.Argv) == 0 || c.Argv[0].Text == "" {
		return errors.New("argv must name a program")
	}
	if len(references(c.Argv[0].Visit, "args")) > 0 {
		return errors.New("argv[0] must not come from args: a model would choose the program; name it and pass args behind it")
	}
	if i := c.script(); i > 0 && len(references(c.Argv[i].Visit, "args")) > 0 {
		return fmt.Errorf("argv[%d] is a script, and args in its text would be run as code; pass them behind it instead: "+
			`["sh", "-c", "echo \"$1\"", "sh", "${args.text}"]`, i)
	}
	for name := range c.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("%q cannot be the name of an environment variable", name)
		}
	}
	return nil
}

// interpreters are programs that run the text behind an option.
var interpreters = map[string]*regexp.Regexp{
	"shell":      regexp.MustCompile(`^-[A-Za-z]*c$`),
	"python":     regexp.MustCompile(`^-[A-Za-z]*c$`),
	"javascript": regexp.MustCompile(`^(-e|-p|-pe|--eval|--print)$`),
	"perl":       regexp.MustCompile(`^-[A-Za-z]*[eEr]$`),
}

var interpreterNames = map[string]*regexp.Regexp{
	"shell":      regexp.MustCompile(`^(sh|bash|dash|ash|zsh|ksh|mksh|fish|busybox)$`),
	"python":     regexp.MustCompile(`^(python|pypy)[0-9.]*$`),
	"javascript": regexp.MustCompile(`^(node|nodejs|deno|bun)$`),
	"perl":       regexp.MustCompile(`^(perl|ruby|php)[0-9.]*$`),
}

// launchers are programs that run the program named behind them.
var launchers = regexp.MustCompile(`^(env|timeout|nice|nohup|setsid|stdbuf|time|sudo|doas|ionice|xargs|firejail|bwrap|unshare|docker|podman|ssh)$`)

// script is the place of the text that an interpreter in argv runs, or 0.
func (c *CommandConfig) script() int {
	language := ""
	launched := launchers.MatchString(path.Base(c.Argv[0].Text))
	for i, arg := range c.Argv {
		if language != "" && i > 0 && interpreters[language].MatchString(c.Argv[i-1].Text) {
			return i
		}
		if language != "" || i > 0 && !launched {
			continue
		}
		for l, names := range interpreterNames {
			if names.MatchString(strings.TrimSuffix(path.Base(arg.Text), ".exe")) {
				language = l
			}
		}
	}
	return 0
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
