package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	plain    *plain // nil if compiled decides alone
	doc      any
	current  json.RawMessage
	audit    *audit // read-only after its run
	meter    *meter // nil if the size of a value limits the work
}

// address is the schema's own URL; nothing is ever loaded from it.
const address = "pex:///schema"

// Compile checks and compiles a schema given as JSON: an object, true or false,
// in the draft that $schema names. The error is Problems.
func Compile(raw []byte) (*Schema, error) {
	doc, err := read(raw)
	if err != nil {
		return nil, Problems{{Message: err.Error()}}
	}
	draft, problem := dialectOf(doc)
	if problem != nil {
		return nil, Problems{*problem}
	}
	return compile(raw, doc, draft)
}

// compile compiles a decoded schema of a draft.
func compile(raw []byte, doc any, draft *jsonschema.Draft) (*Schema, error) {
	a := newAudit(doc, draft)
	if a.run(); len(a.problems) > 0 {
		return nil, a.problems.sorted()
	}
	s := &Schema{doc: doc, audit: a, plain: plainOf(doc)}
	var err error
	if s.current, err = current(raw, draft); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.Draft = draft
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is outside the schema", url)
	}
	c.RegisterExtension("noValue", nil, noValue{})
	if a.recursive || a.total > freeFanOut {
		s.meter = &meter{}
		c.RegisterExtension("meter", nil, s.meter)
	}
	if err := c.AddResource(address, bytes.NewReader(raw)); err != nil {
		return nil, libraryProblems(err, doc)
	}
	if s.compiled, err = c.Compile(address); err != nil {
		return nil, libraryProblems(err, doc)
	}
	return s, nil
}

// Property compiles a declared parameter: a schema that may also contain
// `required: true`, as specs write it beside type and default.
func Property(raw []byte) (*Schema, error) {
	doc, err := read(raw)
	if err != nil {
		return nil, Problems{{Message: err.Error()}}
	}
	m, ok := doc.(map[string]any)
	if !ok {
		return Compile(raw)
	}
	if _, ok := m["required"].(bool); ok {
		m = maps.Clone(m)
		delete(m, "required")
		if raw, err = json.Marshal(m); err != nil {
			return nil, Problems{{Message: err.Error()}}
		}
	}
	return Compile(raw)
}

func read(raw []byte) (any, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("the schema has %d bytes; the maximum is %d", len(raw), MaxSize)
	}
	return Decode(raw)
}

// Validate validates a value as returned by Decode, or built from the same types.
// The error is Violations, or explains why the value cannot be validated.
func (s *Schema) Validate(v any) error {
	found := scan{unique: s.audit.unique}
	if err := found.value(v, 0); err != nil {
		return err
	}
	if s.plain.accepts(v) {
		return nil
	}
	err := s.validate(v, found)
	if ve, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return violationsOf(ve)
	}
	return err
}

func (s *Schema) validate(v any, found scan) (err error) {
	if s.meter == nil {
		return s.compiled.Validate(v)
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(tooMuchWork); !ok {
				panic(r)
			}
			err = errTooMuch
		}
	}()
	if found.depth > maxMeteredDepth {
		return errTooMuch
	}
	s.meter.Lock()
	defer s.meter.Unlock()
	s.meter.left = 2*s.audit.total + freeChecks/(1+found.depth*found.depth/64) + checksPerNode*found.nodes
	return s.compiled.Validate(v)
}

var errTooMuch = errors.New("the value is too large or nested too deeply for a schema with this many alternatives")

// meter counts the evaluated subschemas of a schema that can multiply work.
type meter struct {
	sync.Mutex
	left int
}

// Limits of the subschemas evaluated in one validation. The cost of a failed one
// grows with the square of the value's depth.
const (
	freeChecks      = 10_000
	checksPerNode   = 10
	maxMeteredDepth = 100
)

// tooMuchWork is the panic value that ends a validation.
type tooMuchWork struct{}

// Compile adds the meter to every subschema.
func (m *meter) Compile(jsonschema.CompilerContext, map[string]any) (jsonschema.ExtSchema, error) {
	return m, nil
}

// Validate counts one evaluation.
func (m *meter) Validate(jsonschema.ValidationContext, any) error {
	if m.left--; m.left < 0 {
		panic(tooMuchWork{})
	}
	return nil
}
