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

// A single operation can make a value that is far larger than the memory a
// program may use: "a" * 1000000000. So operations whose result can be larger
// than their operands are rewritten to calls of the functions below, which
// check the size of the result against the free memory first.

// Names that no program can write.
const (
	operatorName = "operator "
	callName     = "checked call"
)

// operators are the binary operators that are checked.
var operators = []syntax.Token{syntax.STAR, syntax.PLUS, syntax.PERCENT}

// augmented are the operators of assignments that are checked; += is not among
// them, since it extends a list in place and at most doubles a text.
var augmented = map[syntax.Token]syntax.Token{syntax.STAR_EQ: syntax.STAR, syntax.PERCENT_EQ: syntax.PERCENT}

// methods and functions are the calls that are checked.
var (
	methods   = []string{"join", "replace", "format"}
	functions = []string{"list", "tuple", "sorted", "set", "reversed"}
)

var exprType = reflect.TypeFor[syntax.Expr]()

// rewrite replaces the operations below a part of a syntax tree by checked ones.
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
			v.Set(reflect.ValueOf(checked(v.Interface().(syntax.Expr))))
		}
	default:
	}
}

// plainAssignment makes x *= y of a name an assignment of x * y.
func plainAssignment(s *syntax.AssignStmt) {
	op, ok := augmented[s.Op]
	name, isName := s.LHS.(*syntax.Ident)
	if ok && isName {
		s.RHS = &syntax.BinaryExpr{X: &syntax.Ident{NamePos: name.NamePos, Name: name.Name}, OpPos: s.OpPos, Op: op, Y: s.RHS}
		s.Op = syntax.EQ
	}
}

// checked is an expression with its own operation checked.
func checked(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		if slices.Contains(operators, e.Op) {
			return &syntax.CallExpr{
				Fn:     &syntax.Ident{NamePos: e.OpPos, Name: operatorName + e.Op.String()},
				Lparen: e.OpPos, Rparen: e.OpPos, Args: []syntax.Expr{e.X, e.Y},
			}
		}
	case *syntax.CallExpr:
		dot, isMethod := e.Fn.(*syntax.DotExpr)
		name, isName := e.Fn.(*syntax.Ident)
		if isMethod && slices.Contains(methods, dot.Name.Name) || isName && slices.Contains(functions, name.Name) {
			e.Args = append([]syntax.Expr{e.Fn}, e.Args...)
			e.Fn = &syntax.Ident{NamePos: e.Lparen, Name: callName}
		}
	}
	return e
}

// memory is what a program may use.
type memoryEntry struct {
	bound uint64 // of the program
	most  uint64 // of the heap; 0 = there is no bound
}

// heapSize reads the size of the heap.
func heapSize() uint64 {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	return heap[0].Value.Uint64()
}

// newMemory is the memory of a program that begins now.
func newMemory(most uint64) *memoryEntry {
	if most == 0 {
		return &memoryEntry{}
	}
	return &memoryEntry{bound: most, most: heapSize() + most}
}

// charge refuses a value of so many bytes that there is no memory for. Small
// values are left to the watch on the heap.
func (m *memoryEntry) charge(bytes uint64) error {
	const small = 1 << 20
	if m.most == 0 || bytes <= small || heapSize()+bytes <= m.most {
		return nil
	}
	if runtime.GC(); heapSize()+bytes <= m.most { // values that are no longer used do not count
		return nil
	}
	return fmt.Errorf("a value of %d MB would make the program take more than %d MB of memory; work on parts, or keep less", bytes>>20, m.bound>>20)
}

// builtins are the checked operations by their names.
func (m *memoryEntry) builtins() starlark.StringDict {
	out := starlark.StringDict{callName: starlark.NewBuiltin(callName, m.call)}
	for _, op := range operators {
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
func (m *memoryEntry) call(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	if err := m.charge(sizeOfCall(args[0], args[1:], kwargs)); err != nil {
		return nil, err
	}
	return starlark.Call(t, args[0], args[1:], kwargs)
}

const pointer = 16 // bytes of a value in a list

// sizeOfBinary is about how many bytes the result of an operation takes.
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
		return times(length(x), n)
	}
	if n, ok := x.(starlark.Int); ok {
		return times(length(y), n)
	}
	return 0
}

// times is a size, n times; a product that is too large is the largest number.
func times(size uint64, n starlark.Int) uint64 {
	if n.Sign() <= 0 || size == 0 {
		return 0
	}
	count, ok := n.Uint64()
	if !ok || count > 1<<62/size {
		return 1 << 62
	}
	return size * count
}

// length is about how many bytes a sequence takes without what it refers to.
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

// textSize is about how many bytes a value has as text.
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
		if part := v.Index(i); nested(part) {
			n += length(part)
		} else {
			n += textSize(part) + 2
		}
	}
	return n
}

// nested says whether a value holds others: how deep is left to the watch.
func nested(v starlark.Value) bool {
	switch v.(type) {
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set:
		return true
	}
	return false
}

// sizeOfCall is about how many bytes the result of a call takes.
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
