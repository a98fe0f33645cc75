package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/process"
)

// PythonConfig configures python.
type PythonConfig struct {
	Allow       bool   `yaml:"allow" doc:"Must be true. The model's programs run on this machine with the permissions of the current user. Time, memory, environment and network are limited, but programs can read and write that user's files."`
	Interpreter string `yaml:"interpreter" doc:"Name or path of the Python 3 interpreter."`
	MaxMemory   int    `yaml:"max_memory" min:"67108864" max:"1099511627776" doc:"Maximum address space of each process, in bytes."`
	CPU         int    `yaml:"cpu" min:"1" max:"86400" doc:"Maximum CPU time of each process, in seconds. The tool's timeout limits the whole call."`
	MaxFile     int    `yaml:"max_file" min:"0" max:"1099511627776" doc:"Maximum size of a file that a program writes, in bytes."`
	MaxBytes    int    `yaml:"max_bytes" min:"1000" max:"16777216" doc:"Maximum size of the result and of the printed output, in bytes each."`
	Network     bool   `yaml:"network" doc:"Whether programs may use the network. If false, the network is blocked on Linux where the system permits it; otherwise each result says that it was not."`
}

// Access implements tool.AccessDescriber.
func (c *PythonConfig) Access() []string {
	return []string{tool.Execs([]string{c.Interpreter}, "", nil) + ", for programs that a model writes"}
}

// NeedsHost implements tool.HostBound.
func (c *PythonConfig) NeedsHost() string { return "the program " + c.Interpreter }

// DefaultApproval implements tool.DefaultApprover. Every program needs approval.
func (*PythonConfig) DefaultApproval() string { return "always" }

// Check implements component.Checker.
func (c *PythonConfig) Check(tool.Settings) component.Faults {
	if c.Allow {
		return nil
	}
	return component.Faults{{
		At: "/allow", Message: "python lets the model run programs on this machine, so it must be allowed explicitly",
		Hint: "write allow: true, or use the tool code, whose programs cannot access the machine",
	}}
}

// Python runs programs with the machine's Python interpreter. On Linux they run in their
// own namespaces, if the system permits it: without network, and with all their processes
// killed by the kernel at the end. Elsewhere, a process that leaves its group and its
// environment is not found. The number of processes is limited only in a user namespace,
// and never for root. The number of files is not limited.
var Python = component.New("python", "Runs a Python program that the model writes, in a resource-limited process on this machine. Requires allow: true; each call needs approval by default.",
	func() PythonConfig {
		return PythonConfig{Interpreter: "python3", MaxMemory: 512 << 20, CPU: 60, MaxFile: 16 << 20, MaxBytes: 48 << 10}
	}, newPython)

const pythonInput = `{"type":"object","properties":{` +
	`"source":{"type":"string","description":"The Python 3 program. The value assigned to result is returned as JSON; without it, the printed output is returned."},` +
	`"inputs":{"type":"object","description":"Input values, available to the program as the dict inputs."}` +
	`},"required":["source"],"additionalProperties":false}`

// bootstrap is the program that the interpreter runs. It reads the model's program and
// its inputs from standard input, so that no text from the model is in argv.
//
//go:embed python_bootstrap.py
var bootstrap string

const (
	resultFile     = ".pex-result" // in the program's folder
	networkBlocked = "cut off"     // first line that the bootstrap writes to stderr if the network is blocked
)

type python struct {
	info    tool.Info
	config  PythonConfig
	env     func(string) string
	offline bool
	// forbidden is true if no program may be started.
	forbidden bool
	guard     func(mark string) (watch func(leader int) (release func()))
}

var _ tool.Tool = (*python)(nil)

func newPython(c *PythonConfig, s tool.Settings) (tool.Tool, error) {
	if err := c.Check(s).Err(); err != nil {
		return nil, err
	}
	t := &python{config: *c, env: s.Env, offline: s.Offline, guard: s.Guard, forbidden: s.NoPrograms}
	t.info = toolInfo(s, "python",
		"Runs a Python 3 program with the standard library and the installed packages, in an empty temporary folder. Assign the answer to result (JSON), or print it.",
		pythonInput, tool.WriteEffect)
	return t, nil
}

// Info implements tool.Tool.
func (t *python) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *python) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[struct {
		Source string          `json:"source"`
		Inputs json.RawMessage `json:"inputs"`
	}](ctx, call)
	switch {
	case err != nil:
		return nil, err
	case t.forbidden:
		return nil, noPrograms(t.info.Name)
	case strings.TrimSpace(args.Source) == "":
		return nil, errors.New(`argument "source" is missing; pass a program such as result = 6 * 7`)
	case len(args.Inputs) > 0 && args.Inputs[0] != '{' && string(args.Inputs) != "null":
		return nil, errors.New(`argument "inputs" must be an object`)
	case runtime.GOOS == "windows":
		return nil, errors.New("python programs cannot be sandboxed on Windows; use the tool code instead")
	}
	if len(args.Inputs) == 0 || string(args.Inputs) == "null" {
		args.Inputs = json.RawMessage("{}")
	}
	dir, err := os.MkdirTemp("", "pex-python-") // 0700
	if err != nil {
		return nil, fmt.Errorf("create a folder for the program: %w", err)
	}
	// The program may have created files that its user cannot remove.
	defer func() { _ = os.RemoveAll(dir) }()
	order, err := json.Marshal(map[string]any{
		"source": args.Source, "inputs": args.Inputs, "context": call.Context, "memory": t.config.MaxMemory, "cpu": t.config.CPU, "file": t.config.MaxFile,
		"network": t.config.Network && !t.offline, "must": t.offline, "result": resultFile,
	})
	if err != nil {
		return nil, err
	}
	return t.run(ctx, dir, string(order))
}

// run runs a program in its folder.
func (t *python) run(ctx context.Context, dir, order string) (*tool.Output, error) {
	path := process.Inherited(machine(t.env))["PATH"]
	env, err := process.Environ(map[string]string{"PATH": path, "HOME": dir, "TMPDIR": dir, "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8"})
	if err != nil {
		return nil, err
	}
	res, err := process.Run(ctx, process.Command{
		Argv: []string{t.config.Interpreter, "-I", "-B", "-c", bootstrap}, Path: path, Dir: dir, Env: env,
		Stdin: &order, Keep: t.config.MaxBytes, Guard: t.guard,
	})
	status, errs, _ := strings.Cut(res.Stderr, "\n")
	res.Stderr = errs
	if status != networkBlocked && status != "network" { // the program ended before the bootstrap wrote the line
		res.Stderr = status + "\n" + errs
	}
	switch {
	case err != nil:
		return nil, runError("the program", err, res)
	case res.Signal != "": // the tool's own limits kill a program this way
		return nil, withOutput(fmt.Errorf("ended by signal: %s", res.Signal), res)
	case res.Code != 0:
		return nil, exitError(res)
	}
	out, err := t.output(dir, res)
	if err == nil && status != networkBlocked && !t.config.Network {
		out.Text += "\n[network access could not be blocked on this machine]"
	}
	return out, err
}

// output returns the result as JSON, if there is one, preceded by the printed output.
func (t *python) output(dir string, res process.Result) (*tool.Output, error) {
	printed := res.Stdout
	if warned := strings.TrimSpace(res.Stderr); warned != "" {
		printed += "[on stderr]\n" + warned + "\n"
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the program's folder is gone: %w", err)
	}
	defer root.Close()
	info, err := root.Lstat(resultFile)
	if err != nil {
		return &tool.Output{Text: strings.TrimRight(printed, "\r\n")}, nil
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("the program replaced its result file with something else")
	}
	f, err := root.Open(resultFile)
	if err != nil {
		return nil, fmt.Errorf("read the result: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(t.config.MaxBytes)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the result: %w", err)
	case len(data) > t.config.MaxBytes:
		return nil, fmt.Errorf("the result has %d bytes, the limit is %d: return a part or a summary", info.Size(), t.config.MaxBytes)
	case !json.Valid(data):
		return nil, errors.New("the result file is not valid JSON")
	}
	return &tool.Output{Text: printed + string(data), Data: data}, nil
}
