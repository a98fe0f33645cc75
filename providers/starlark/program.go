package starlark

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/sandboxfs"
	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

const (
	file     = "program"
	lastLine = "value of the last line" // a name that no program can contain
	maxLine  = 160                      // bytes of a source line in an error
	maxError = 4 << 10                  // bytes of an error
)

// dialect is the Starlark dialect for one-off programs.
var dialect = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}

// run runs the program and returns its reply.
func (r *request) run() *reply {
	p := &program{request: r, changes: changes{}}
	result, err := p.run()
	if err == nil { // on a copy, to report too many variables as an error
		err = p.changes.apply(&memory.Session{Variables: r.Variables})
	}
	a := &reply{Printed: p.printed.text()}
	if err != nil {
		a.Error = clipError(p.explain(err))
		return a
	}
	a.Result, a.Changes = result, p.changes
	return a
}

// program is a running program.
type program struct {
	*request
	tree    *sandboxfs.Tree
	thread  *starlark.Thread
	printed printBuffer
	changes changes
}

func (p *program) run() (json.RawMessage, error) {
	f, err := sandboxfs.New(tool.Settings{Dir: p.Settings.Dir, Root: p.Settings.Root, Allow: p.Settings.Allow, Private: p.Settings.Private}, p.Settings.Below, p.Settings.Exclude)
	if err != nil {
		return nil, err
	}
	if p.tree, err = f.Open(); err != nil {
		return nil, err
	}
	defer p.tree.Close()
	p.printed.limit = p.MaxBytes
	p.thread = &starlark.Thread{Name: file, Print: func(_ *starlark.Thread, text string) { p.printed.add(text) }}
	p.thread.SetMaxExecutionSteps(p.MaxSteps)
	inputs, err := p.decode(p.Inputs)
	if err != nil {
		return nil, fmt.Errorf(`argument "inputs": %w`, err)
	}
	var context starlark.Value = starlark.NewDict(0)
	if len(p.Context) > 0 {
		if context, err = p.decode(p.Context); err != nil {
			return nil, fmt.Errorf("context: %w", err)
		}
	}
	predeclared := starlark.StringDict{
		"inputs": inputs, "context": context, "json": starlarkjson.Module, "math": math.Module,
		"sum":        starlark.NewBuiltin("sum", sum),
		"round":      starlark.NewBuiltin("round", round),
		"read_file":  starlark.NewBuiltin("read_file", p.readFile),
		"list_files": starlark.NewBuiltin("list_files", p.listFiles),
		"variables":  p.variables(),
	}
	globals, err := p.execute(predeclared)
	if err != nil {
		return nil, err
	}
	return p.result(globals)
}

// execute runs the source. If the last statement is an expression, its value is assigned to lastLine.
func (p *program) execute(predeclared starlark.StringDict) (starlark.StringDict, error) {
	tree, err := dialect.Parse(file, p.Source, 0)
	if err != nil {
		return nil, err
	}
	if n := len(tree.Stmts); n > 0 {
		if last, ok := tree.Stmts[n-1].(*syntax.ExprStmt); ok {
			at, _ := last.Span()
			tree.Stmts[n-1] = &syntax.AssignStmt{OpPos: at, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: at, Name: lastLine}, RHS: last.X}
		}
	}
	rewrite(reflect.ValueOf(tree))
	maps.Copy(predeclared, newMemoryLimit(p.MaxMemory).builtins())
	compiled, err := starlark.FileProgram(tree, predeclared.Has)
	if err != nil {
		return nil, err
	}
	return compiled.Init(p.thread, predeclared)
}

// result returns the program's result as JSON; nil = none.
func (p *program) result(globals starlark.StringDict) (json.RawMessage, error) {
	v, named := globals["result"]
	if !named {
		v = globals[lastLine]
	}
	if v == nil || v == starlark.None && !named {
		return nil, nil
	}
	out, err := p.encode(v)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the result cannot be encoded as JSON: %w", err)
	case len(out) > p.MaxBytes:
		return nil, fmt.Errorf("the result is %d bytes, the maximum is %d; return a part or a summary", len(out), p.MaxBytes)
	}
	return out, nil
}

func (p *program) decode(raw json.RawMessage) (starlark.Value, error) {
	return starlark.Call(p.thread, starlarkjson.Module.Members["decode"], starlark.Tuple{starlark.String(raw)}, nil)
}

func (p *program) encode(v starlark.Value) (json.RawMessage, error) {
	out, err := starlark.Call(p.thread, starlarkjson.Module.Members["encode"], starlark.Tuple{v}, nil)
	if err != nil {
		return nil, errors.New(err.Error()) // drop the position, which is not in the program
	}
	text, _ := starlark.AsString(out)
	return json.RawMessage(text), nil
}

// explain describes an error with its position, so that a model can fix the program.
func (p *program) explain(err error) string {
	if e, ok := errors.AsType[*starlark.EvalError](err); ok {
		text := strings.Replace(e.Msg, "Starlark computation cancelled: too many steps", fmt.Sprintf("the program ran more than %d steps; reduce its work", p.MaxSteps), 1)
		for i := range e.CallStack {
			if at := e.CallStack.At(i).Pos; at.Filename() == file && at.Line > 0 {
				return p.withPlace(at, text)
			}
		}
		return text
	}
	if e, ok := errors.AsType[syntax.Error](err); ok {
		return p.withPlace(e.Pos, e.Msg)
	}
	if list, ok := errors.AsType[resolve.ErrorList](err); ok {
		texts := make([]string, 0, len(list))
		for _, e := range list {
			texts = append(texts, p.withPlace(e.Pos, e.Msg))
		}
		return strings.Join(texts, "\n")
	}
	return err.Error()
}

// clipError limits the length of an error.
func clipError(text string) string {
	if len(text) <= maxError {
		return text
	}
	return strings.ToValidUTF8(text[:maxError], "") + fmt.Sprintf(" [%d more bytes]", len(text)-maxError)
}

// withPlace adds position and source line to a message.
func (p *program) withPlace(at syntax.Position, message string) string {
	out := fmt.Sprintf("line %d, column %d: %s", at.Line, at.Col, message)
	lines := strings.Split(p.Source, "\n")
	if n := int(at.Line); n >= 1 && n <= len(lines) && len(lines[n-1]) <= maxLine {
		out += "\n  " + strings.TrimSpace(lines[n-1])
	}
	return out
}

// printBuffer stores the start of the printed text.
type printBuffer struct {
	out     strings.Builder
	limit   int
	dropped int // bytes dropped
}

func (o *printBuffer) add(text string) {
	text += "\n"
	if free := o.limit - o.out.Len(); len(text) > free {
		o.dropped += len(text) - max(free, 0)
		text = strings.ToValidUTF8(text[:max(free, 0)], "")
	}
	o.out.WriteString(text)
}

func (o *printBuffer) text() string {
	if o.dropped == 0 {
		return o.out.String()
	}
	return fmt.Sprintf("%s\n[%d more bytes were printed]\n", o.out.String(), o.dropped)
}
