package tool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/engine/tracecontext"
	"github.com/pexctl/pex/internal/process"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// CommandConfig configures command.
type CommandConfig struct {
	Argv        []component.Template          `yaml:"argv" path:"program" required:"true" min:"1" vars:"args,parameters,env" doc:"Program and arguments; no shell is in between, and one argument stays one argument whatever a model puts in. A value that starts with a dash is refused where the program could take it for an option: not behind --, behind text of yours (--name=${args.x}), behind a script in argv, or where input_schema declares a number, an enum, or a pattern that starts with ^."`
	AllowDash   bool                          `yaml:"allow_leading_dash" doc:"Allows argument values that start with a dash, for programs that do not parse options there."`
	Env         map[string]component.Template `yaml:"env" vars:"args,parameters,env" doc:"Environment variables in addition to PATH, HOME, LANG, TMPDIR, PEX_IDEMPOTENCY_KEY and, in guided steps, PEX_CONTEXT (the step's position in the plan, as JSON), and in traces TRACEPARENT and TRACESTATE. Other variables are not passed on."`
	Stdin       component.Template            `yaml:"stdin" vars:"args,parameters,env" doc:"Standard input of the program. Default: empty."`
	Cwd         string                        `yaml:"cwd" path:"relative" doc:"Working directory, relative to this file. Default: the spec's folder."`
	InputSchema component.SchemaRef           `yaml:"input_schema" doc:"JSON Schema of the arguments. Default: a string for each ${args.name} that is used."`
}

// Access implements tool.AccessDescriber.
func (c *CommandConfig) Access() []string {
	argv := make([]string, len(c.Argv))
	for i, arg := range c.Argv {
		argv[i] = arg.Text
	}
	return []string{tool.Execs(argv, c.Cwd, c.Env)}
}

// NeedsHost implements tool.HostBound.
func (c *CommandConfig) NeedsHost() string {
	if len(c.Argv) == 0 {
		return ""
	}
	return "the program " + c.Argv[0].Text
}

// Command runs a program chosen by the author. When the program ends, all processes it
// left running are killed.
var Command = component.New("command", "Runs a program without a shell, with arguments from the author and the model.",
	func() CommandConfig { return CommandConfig{} }, newCommand)

type command struct {
	info   tool.Info
	config CommandConfig
	folder *sandboxfs.Folder
	env    func(string) string
	guard  func(mark string) (watch func(leader int) (release func()))
	// forbidden is true if no program may be started.
	forbidden bool
}

var _ tool.Tool = (*command)(nil)

func newCommand(c *CommandConfig, s tool.Settings) (tool.Tool, error) {
	if err := c.check().Err(); err != nil {
		return nil, err
	}
	dir, err := sandboxfs.New(s, c.Cwd, nil)
	if err != nil {
		return nil, err
	}
	input := string(c.InputSchema.JSON)
	if input == "" {
		input = c.schema()
	}
	t := &command{config: *c, folder: dir, env: s.Env, guard: s.Guard, forbidden: s.NoPrograms}
	t.info = toolInfo(s, "command", "Runs "+c.line()+".", input, tool.WriteEffect)
	return t, nil
}

// Info implements tool.Tool.
func (t *command) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *command) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, tool.Definite(err)
	}
	if err := isObject(call.Args); err != nil {
		return nil, err
	}
	if t.forbidden {
		return nil, noPrograms(t.info.Name)
	}
	// Opened only as a check: it must still be a permitted folder.
	tree, err := t.folder.Open()
	if err != nil {
		return nil, err
	}
	tree.Close()
	look := lookup(call, t.env)
	c := process.Command{Dir: t.folder.Dir(), Guard: t.guard}
	for i := range t.config.Argv {
		arg, err := t.argument(i, look)
		if err != nil {
			return nil, err
		}
		c.Argv = append(c.Argv, arg)
	}
	if c.Env, c.Path, err = t.environment(ctx, look, call); err != nil {
		return nil, err
	}
	if t.config.Stdin.Text != "" {
		text := t.config.Stdin.Render(look)
		c.Stdin = &text
	}
	res, err := process.Run(ctx, c)
	if err != nil {
		return nil, runError("the command", err, res)
	}
	if res.Code != 0 {
		return nil, exitError(res)
	}
	return &tool.Output{Text: strings.TrimRight(res.Stdout, "\r\n")}, nil
}

// runError returns the error of a program that could not be started, or was stopped
// before it ended and so has an unknown outcome.
func runError(subject string, err error, res process.Result) error {
	if _, none := errors.AsType[*process.NotStartedError](err); none {
		return tool.Definite(err)
	}
	return tool.UnknownOutcome(withOutput(fmt.Errorf("%s was stopped: %w", subject, err), res))
}

// exitError returns the error of a program that ended with a status other than 0, or was
// killed and so may have done part of its work.
func exitError(res process.Result) error {
	if res.Signal != "" {
		return tool.UnknownOutcome(withOutput(fmt.Errorf("ended by signal: %s", res.Signal), res))
	}
	return withOutput(fmt.Errorf("exit status %d", res.Code), res)
}

// withOutput appends the program's stderr, or else its stdout, to err.
func withOutput(err error, res process.Result) error {
	output := strings.TrimSpace(res.Stderr)
	if output == "" {
		output = strings.TrimSpace(res.Stdout)
	}
	if output == "" {
		return err
	}
	return fmt.Errorf("%w\n%s", err, output)
}

const (
	keyVariable     = "PEX_IDEMPOTENCY_KEY"
	contextVariable = "PEX_CONTEXT"
	maxContextBytes = 96 << 10 // Linux limits a variable to 128 KiB
	maxLineText     = 200      // bytes of a command line shown in the description
)

// environment returns the complete environment of the child, sorted, and its PATH.
func (t *command) environment(ctx context.Context, look component.Lookup, call *tool.Call) (env []string, path string, err error) {
	values := process.Inherited(machine(t.env))
	if call.Key != "" {
		values[keyVariable] = call.Key
	}
	if call.Context != nil {
		values[contextVariable] = string(call.Context.JSON(maxContextBytes))
	}
	trace := tracecontext.Outgoing(ctx)
	if trace.Parent != "" {
		values[tracecontext.Variable] = trace.Parent
	}
	if trace.State != "" {
		values[tracecontext.StateVariable] = trace.State
	}
	for name, value := range t.config.Env {
		values[name] = value.Render(look)
	}
	env, err = process.Environ(values)
	return env, values["PATH"], err
}

// check returns faults for settings that would let the model choose what runs.
func (c *CommandConfig) check() (out component.Faults) {
	if len(c.Argv) == 0 || c.Argv[0].Text == "" {
		return component.Faults{{At: "/argv", Message: "argv must name a program", Hint: "put the program first and its arguments after it"}}
	}
	if len(references(c.Argv[0].Visit)) > 0 {
		return component.Faults{{At: "/argv/0", Message: "argv[0] must not come from args: the model would choose the program", Hint: "write the program's name, and pass args after it"}}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		at := "/env" + component.Key(name)
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			out = append(out, component.Fault{At: at, Message: fmt.Sprintf("%q cannot be the name of an environment variable", name)})
		case controlVariables.MatchString(name) && len(references(c.Env[name].Visit)) > 0:
			out = append(out, component.Fault{At: at, Message: "env." + name + " must not come from args: it controls which code programs run", Hint: "pass args in another variable"})
		}
	}
	return append(out, c.checkRunners()...)
}

// schema returns the input schema of a command that declares none.
func (c *CommandConfig) schema() string {
	var all []source
	for _, t := range append(slices.Clone(c.Argv), c.Stdin) {
		all = append(all, source{text: t.Text, visit: t.Visit})
	}
	return inputSchema(append(all, sources("", c.Env)...))
}

// line returns the command as its author wrote it.
func (c *CommandConfig) line() string {
	words := make([]string, len(c.Argv))
	for i, arg := range c.Argv {
		words[i] = arg.Text
	}
	return clip(strings.Join(words, " "))
}
