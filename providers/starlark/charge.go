package starlark

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// A single operation can create a value far larger than the memory limit: "a" * 1000000000. Operations whose result can
// be larger than their operands are therefore rewritten to calls of the functions below, which compare the estimated
// size of the result with the free memory first.

// Names that no program can contain.
const (
	operatorName = "operator "
	callName     = "checked call"
)

// checkedOperators are the checked binary operators.
var checkedOperators = []syntax.Token{syntax.STAR, syntax.PLUS, syntax.PERCENT}

// checkedAssignments are the checked assignment operators. += is not among them: it
// extends a list in place and at most doubles a string.
var checkedAssignments = map[syntax.Token]syntax.Token{syntax.STAR_EQ: syntax.STAR, syntax.PERCENT_EQ: syntax.PERCENT}

// checkedMethods and checkedFunctions are the checked calls.
var (
	checkedMethods   = []string{"join", "replace", "format"}
	checkedFunctions = []string{"list", "tuple", "sorted", "set", "reversed"}
)

var exprType = reflect.TypeFor[syntax.Expr]()

// rewrite replaces the operations in a part of a syntax tree by checked ones.
func rewrite(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			rewrite(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			rewrite(v.Index(i))
		}
	case reflect.Struct:
		if assign, ok := reflect.TypeAssert[*syntax.AssignStmt](v.Addr()); ok {
			plainAssignment(assign)
		}
		for _, f := range v.Fields() {
			if f.CanSet() {
				rewrite(f)
			}
		}
	case reflect.Interface:
		if v.IsNil() || v.NumMethod() == 0 {
			return
		}
		rewrite(v.Elem())
		if v.Type() == exprType {
			v.Set(reflect.ValueOf(checkExpr(v.Interface().(syntax.Expr))))
		}
	default:
	}
}

// plainAssignment rewrites x *= y to x = x * y for a name x.
func plainAssignment(s *syntax.AssignStmt) {
	op, ok := checkedAssignments[s.Op]
	name, isName := s.LHS.(*syntax.Ident)
	if ok && isName {
		s.RHS = &syntax.BinaryExpr{X: &syntax.Ident{NamePos: name.NamePos, Name: name.Name}, OpPos: s.OpPos, Op: op, Y: s.RHS}
		s.Op = syntax.EQ
	}
}

// checkExpr returns an expression whose own operation is checked.
func checkExpr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		if slices.Contains(checkedOperators, e.Op) {
			return &syntax.CallExpr{
				Fn:     &syntax.Ident{NamePos: e.OpPos, Name: operatorName + e.Op.String()},
				Lparen: e.OpPos, Rparen: e.OpPos, Args: []syntax.Expr{e.X, e.Y},
			}
		}
	case *syntax.CallExpr:
		dot, isMethod := e.Fn.(*syntax.DotExpr)
		name, isName := e.Fn.(*syntax.Ident)
		if isMethod && slices.Contains(checkedMethods, dot.Name.Name) || isName && slices.Contains(checkedFunctions, name.Name) {
			e.Args = append([]syntax.Expr{e.Fn}, e.Args...)
			e.Fn = &syntax.Ident{NamePos: e.Lparen, Name: callName}
		}
	}
	return e
}

// memoryLimit is the memory limit of a program.
type memoryLimit struct {
	limit uint64 // limit of the program, in bytes
	max   uint64 // maximum size of the heap; 0 = no limit
}

// heapSize returns the size of the heap.
func heapSize() uint64 {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	return heap[0].Value.Uint64()
}

// newMemoryLimit returns the limit of a program that starts now.
func newMemoryLimit(limit uint64) *memoryLimit {
	if limit == 0 {
		return &memoryLimit{}
	}
	return &memoryLimit{limit: limit, max: heapSize() + limit}
}

// charge returns an error if a value does not fit into the free memory. Small values are left to watchMemory.
func (m *memoryLimit) charge(bytes uint64) error {
	const small = 1 << 20
	if m.max == 0 || bytes <= small || heapSize()+bytes <= m.max {
		return nil
	}
	if runtime.GC(); heapSize()+bytes <= m.max { // ignore unreachable values
		return nil
	}
	return fmt.Errorf("a value of %d MB would make the program use more than %d MB of memory; process the data in parts", bytes>>20, m.limit>>20)
}

// builtins returns the checked operations by name.
func (m *memoryLimit) builtins() starlark.StringDict {
	out := starlark.StringDict{callName: starlark.NewBuiltin(callName, m.call)}
	for _, op := range checkedOperators {
		out[operatorName+op.String()] = starlark.NewBuiltin(operatorName+op.String(),
			func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ arguments) (starlark.Value, error) {
				if err := m.charge(sizeOfBinary(op, args[0], args[1])); err != nil {
					return nil, err
				}
				return starlark.Binary(op, args[0], args[1])
			})
	}
	return out
}

// call calls its first argument with the others.
func (m *memoryLimit) call(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	if err := m.charge(sizeOfCall(args[0], args[1:], kwargs)); err != nil {
		return nil, err
	}
	return starlark.Call(t, args[0], args[1:], kwargs)
}

const pointer = 16 // bytes per element of a list

// sizeOfBinary estimates the size of the result of an operation.
func sizeOfBinary(op syntax.Token, x, y starlark.Value) uint64 {
	switch op {
	case syntax.PLUS:
		return length(x) + length(y)
	case syntax.PERCENT:
		if _, ok := x.(starlark.String); ok {
			return length(x) + textSize(y)
		}
		return 0
	default: // repetition
	}
	if n, ok := y.(starlark.Int); ok {
		return multiply(length(x), n)
	}
	if n, ok := x.(starlark.Int); ok {
		return multiply(length(y), n)
	}
	return 0
}

// multiply returns size times n, saturating.
func multiply(size uint64, n starlark.Int) uint64 {
	if n.Sign() <= 0 || size == 0 {
		return 0
	}
	count, ok := n.Uint64()
	if !ok || count > 1<<62/size {
		return 1 << 62
	}
	return size * count
}

// length estimates the size of a sequence without the values it refers to.
func length(v starlark.Value) uint64 {
	switch v := v.(type) {
	case starlark.String:
		return uint64(len(v))
	case starlark.Bytes:
		return uint64(len(v))
	case starlark.Sequence:
		return uint64(max(v.Len(), 0)) * pointer
	}
	return 0
}

// textSize estimates the size of a value as text.
func textSize(v starlark.Value) uint64 {
	switch v := v.(type) {
	case starlark.String:
		return uint64(len(v))
	case starlark.Bytes:
		return uint64(len(v))
	case starlark.Int:
		return uint64(v.BigInt().BitLen()/3 + 2)
	case starlark.Tuple:
		return partsSize(v)
	case *starlark.List:
		return partsSize(v)
	}
	return length(v)
}

func partsSize(v starlark.Indexable) uint64 {
	n := uint64(0)
	for i := range v.Len() {
		if part := v.Index(i); isContainer(part) {
			n += length(part)
		} else {
			n += textSize(part) + 2
		}
	}
	return n
}

// isContainer reports whether a value contains others; watchMemory handles deeper
// nesting.
func isContainer(v starlark.Value) bool {
	switch v.(type) {
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set:
		return true
	}
	return false
}

// sizeOfCall estimates the size of the result of a call.
func sizeOfCall(fn starlark.Value, args starlark.Tuple, kwargs arguments) uint64 {
	b, ok := fn.(*starlark.Builtin)
	if !ok || len(args) == 0 && len(kwargs) == 0 {
		return 0
	}
	receiver, isText := b.Receiver().(starlark.String)
	switch {
	case !isText && b.Receiver() == nil && len(args) > 0:
		return length(args[0])
	case !isText:
		return 0
	case b.Name() == "join":
		return textSize(args[0]) + uint64(len(receiver))*length(args[0])/pointer
	case b.Name() == "replace" && len(args) > 1:
		from, _ := starlark.AsString(args[0])
		to, _ := starlark.AsString(args[1])
		return uint64(len(receiver)) + uint64(strings.Count(string(receiver), from))*uint64(len(to))
	}
	n := textSize(args)
	for _, pair := range kwargs {
		n += textSize(pair[1])
	}
	return uint64(len(receiver)) + uint64(strings.Count(string(receiver), "{"))*n
}
