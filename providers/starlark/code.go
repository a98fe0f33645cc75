package starlark

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/process"
	"github.com/pexctl/pex/internal/sandboxfs"
)

// Config configures the code tool.
type Config struct {
	Root      string   `yaml:"root" path:"relative" doc:"Folder whose files programs can read, relative to this file. Default: the spec's folder."`
	Exclude   []string `yaml:"exclude" doc:"Names of files and folders that cannot be accessed, at any depth. Shell wildcards such as * are allowed."`
	Variables bool     `yaml:"variables" doc:"Whether programs can read and set the variables of the conversation, as the variables tool does."`
	MaxSteps  int      `yaml:"max_steps" min:"1000" max:"10000000000" doc:"Maximum number of execution steps; a step is about one operation."`
	MaxMemory int      `yaml:"max_memory" min:"8388608" max:"8589934592" doc:"Maximum memory of the program's values, in bytes."`
	MaxBytes  int      `yaml:"max_bytes" min:"1000" max:"16777216" doc:"Maximum size of the result and of the printed text, in bytes each."`
}

// Access implements tool.AccessDescriber: nothing.
func (*Config) Access() []string { return nil }

// NeedsHost implements tool.HostBound.
func (c *Config) NeedsHost() string { return tool.FilesBelow(c.Root) }

// ReadsFiles implements tool.FileReader.
func (c *Config) ReadsFiles() (root string, given bool) { return c.Root, false }

// Code is the factory of the code tool.
var Code = component.New("code", "Runs a small Starlark (Python dialect) program with limits on steps, time and memory. It can read files but not write them.",
	func() Config {
		return Config{Exclude: sandboxfs.Hidden(), Variables: true, MaxSteps: 10_000_000, MaxMemory: 64 << 20, MaxBytes: 48 << 10}
	}, newCode)

const input = `{"type":"object","properties":{` +
	`"source":{"type":"string","description":"The Starlark program: Python without import, class, try, with, recursion, ** and f-strings (use + or .format). It returns the value assigned to result, or else the value of the last line."},` +
	`"inputs":{"type":"object","description":"Input values, available to the program as the dict inputs. Pass data here instead of writing it into the source."}` +
	`},"required":["source"],"additionalProperties":false}`

const (
	about = "Runs a small Starlark program (a Python dialect) and returns its result as JSON. Use it to compute, sort, join and reshape data exactly. " +
		"Available: inputs (a dict), json.decode, json.encode, math, sum, round, print, read_file(path), which returns the text, and list_files(pattern), such as list_files(\"**/*.csv\"). " +
		"It has no network, clock or randomness and cannot write files."
	aboutVariables = " variables is a dict-like store that later steps and runs of this conversation see: variables.get(name), variables.set(name, value), variables.delete(name), variables.names()."
)

// maxContextBytes limits the plan context passed to a program.
const maxContextBytes = 256 << 10

type codeTool struct {
	info   tool.Info
	config Config
	root   settings
	folder *sandboxfs.Folder
	guard  func(mark string) (watch func(leader int) (release func()))
}

var _ tool.Tool = (*codeTool)(nil)

// codeWithVariables is the tool if programs may set variables.
type codeWithVariables struct{ *codeTool }

var _ tool.SessionKeeper = codeWithVariables{}

// SessionPart implements tool.SessionKeeper.
func (codeWithVariables) SessionPart() memory.SessionPart { return memory.VariablesPart }

func newCode(c *Config, s tool.Settings) (tool.Tool, error) {
	f, err := sandboxfs.New(s, c.Root, c.Exclude)
	if err != nil {
		return nil, err
	}
	t := &codeTool{config: *c, folder: f, guard: s.Guard, root: settings{s.Dir, s.Root, s.Allow, c.Root, c.Exclude, s.Private}}
	t.info = tool.Info{
		Name: cmp.Or(s.Name, "code"), Description: cmp.Or(s.Description, about), Input: json.RawMessage(input), Effect: tool.ReadEffect,
	}
	if !c.Variables {
		return t, nil
	}
	t.info.Description, t.info.Effect = cmp.Or(s.Description, about+aboutVariables), tool.IdempotentEffect
	return codeWithVariables{t}, nil
}

// Info implements tool.Tool.
func (t *codeTool) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *codeTool) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := t.parse(call.Args)
	if err != nil {
		return nil, err
	}
	// The child opens the folder again. This call checks the folder and asks for access.
	tree, err := t.folder.Open()
	if err != nil {
		return nil, err
	}
	tree.Close()
	r.Context = call.Context.JSON(maxContextBytes)
	if t.config.Variables && call.Session != nil {
		session, err := call.Session.Read(ctx)
		if err != nil {
			return nil, err
		}
		r.Variables, r.Keeps = session.Variables, true
	}
	answer, err := t.run(ctx, r)
	if err != nil {
		return nil, err
	}
	if len(answer.Changes) > 0 {
		if err := call.Session.Update(ctx, answer.Changes.apply); err != nil {
			return nil, err
		}
	}
	return answer.output(), nil
}

// parse parses the arguments.
func (t *codeTool) parse(raw json.RawMessage) (request, error) {
	r := request{
		Settings: t.root, MaxSteps: uint64(t.config.MaxSteps), MaxMemory: uint64(t.config.MaxMemory), MaxBytes: t.config.MaxBytes,
		Inputs: json.RawMessage("{}"),
	}
	args, err := tool.Arguments(raw, "source", "inputs")
	if err != nil {
		return r, err
	}
	if len(args["source"]) > 0 && json.Unmarshal(args["source"], &r.Source) != nil {
		return r, errors.New(`argument "source" must be a string`)
	}
	if strings.TrimSpace(r.Source) == "" {
		return r, errors.New(`argument "source" is missing; pass a program such as result = 6 * 7`)
	}
	if len(args["inputs"]) > 0 && string(args["inputs"]) != "null" {
		if args["inputs"][0] != '{' {
			return r, errors.New(`argument "inputs" must be an object`)
		}
		r.Inputs = args["inputs"]
	}
	return r, nil
}

// executable returns a path for starting this program again. On Linux it works even if the file was replaced or
// removed.
func executable() (string, error) {
	const running = "/proc/self/exe"
	if _, err := os.Stat(running); err == nil {
		return running, nil
	}
	return os.Executable()
}

// overflow is the Go runtime's message on stderr for a stack overflow.
const overflow = "stack overflow"

// outOfMemoryTexts are messages on stderr when the system provides no more memory: four of the Go runtime, which may
// also crash on a failed allocation, and one of the race detector.
var outOfMemoryTexts = []string{
	"fatal error: runtime: out of memory", "fatal error: runtime: cannot allocate memory", "runtime/cgo: pthread_create failed",
	"SIGSEGV: segmentation violation\n", "ThreadSanitizer failed to allocate",
}

// outOfMemory reports whether a child exited for lack of memory.
func outOfMemory(res process.Result) bool {
	return res.Code == exitMemory || slices.ContainsFunc(outOfMemoryTexts, func(text string) bool { return strings.Contains(res.Stderr, text) })
}

// run runs the program in a child process.
func (t *codeTool) run(ctx context.Context, r request) (*reply, error) {
	if os.Getenv(workerVariable) != "" {
		return nil, errors.New("a worker process cannot start another worker; main must call starlark.Serve first")
	}
	self, err := executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find the executable of this process: %w", err)
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	text := string(raw)
	res, err := process.Run(ctx, process.Command{
		Argv: []string{self}, Dir: t.folder.Dir(),
		Env:   []string{workerVariable + "=1", "GOTRACEBACK=none", "GOGC=100"},            // the memory limit needs Go's default collector
		Stdin: &text, Keep: 16*t.config.MaxBytes + 16*maxValues, Guard: t.guard, Grace: 1, // nothing to clean up
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("the program was stopped; reduce its work: %w", err)
	case err != nil:
		return nil, err
	case outOfMemory(res):
		return nil, fmt.Errorf("the program used more than %d MB of memory; process the data in parts", t.config.MaxMemory>>20)
	case strings.Contains(res.Stderr, overflow):
		return nil, errors.New("the program used values that are nested too deeply; use flat lists instead")
	}
	var a reply
	if err := json.Unmarshal([]byte(res.Stdout), &a); err != nil {
		return nil, fmt.Errorf("the program exited without a result (exit status %d%s)", res.Code, res.Signal)
	}
	if a.Error != "" {
		return nil, errors.New(a.withPrinted())
	}
	return &a, nil
}
