package dsl

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// Inputs returns the values of a run's parameters. In increasing priority they
// are: defaults, the JSON object of a file, name=value flags, and the question
// ("" if none). The flag of a string parameter is taken literally, any other is
// parsed as YAML. Every value is checked against its declaration; the error joins an
// *InputError for each mistake, but at most 20 for unknown names. Numbers are float64, except whole numbers that a
// float64 would round, which are int.
func Inputs(p *engine.Program, question string, flags []string, file []byte) (map[string]any, error) {
	in := inputs{program: p, values: map[string]any{}, exactValues: map[string]any{}}
	for i := range p.Parameters {
		if d := p.Parameters[i].Default; d != nil {
			in.values[p.Parameters[i].Name] = d
		}
	}
	readable := in.file(file)
	for _, f := range flags {
		in.flag(f)
	}
	if question != "" {
		in.set("question", question, question)
	}
	if readable { // otherwise the file may contain required parameters
		in.check()
	}
	if more := in.unknown - maxUnknown; more > 0 {
		in.fail("", "", "%d more unknown parameters", more)
	}
	if len(in.errs) > 0 {
		return nil, errors.Join(in.errs...)
	}
	return in.values, nil
}

// maxUnknown limits how many unknown parameters are reported one by one.
const maxUnknown = 20

type inputs struct {
	program     *engine.Program
	values      map[string]any
	exactValues map[string]any // the values as given, with numbers as json.Number
	errs        []error
	unknown     int // names that are not declared
}

// InputError is a mistake in the parameters of a run.
type InputError struct {
	Name    string // of the parameter; "" = it is about all of them
	Message string
	Hint    string // how to fix it with flags; "" = none
}

// Error returns the message and the hint.
func (e *InputError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

func (in *inputs) fail(name, hint, format string, args ...any) {
	in.errs = append(in.errs, &InputError{Name: name, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (in *inputs) set(name string, loose, exact any) {
	in.values[name], in.exactValues[name] = loose, exact
}

// declared returns a parameter, or reports that it does not exist.
func (in *inputs) declared(name string) *engine.Parameter {
	if p := testspec.Parameter(in.program, name); p != nil {
		return p
	}
	if in.unknown++; in.unknown > maxUnknown {
		return nil
	}
	names := make([]string, len(in.program.Parameters))
	for i, p := range in.program.Parameters {
		names[i] = p.Name
	}
	fields, _ := config.Fields([]reflect.Value{reflect.ValueOf(language.Limits{})})
	if slices.Contains(config.FieldKeys(fields), name) && diag.Nearest(name, names) == "" {
		in.fail(name, "it is a limit: --set limits."+name+"=VALUE", "unknown parameter %q", name)
		return nil
	}
	if diag.Nearest(name, names) == "" {
		in.fail(name, diag.Suggest(name, names).Hint+" (to override a key of the spec, use --set PATH=VALUE)", "unknown parameter %q", name)
		return nil
	}
	in.fail(name, "", "unknown parameter %q; %s", name, diag.Suggest(name, names).Hint)
	return nil
}

// file reads the parameters of a JSON object. It returns false if the text is not
// one.
func (in *inputs) file(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	v, err := syntax.ParseJSON(&syntax.Source{Name: "parameters", Text: b, Kind: syntax.Resolved})
	if err != nil || v.Kind != syntax.Map {
		in.fail("", "", "the parameters must be one JSON object: %v", orNotObject(err))
		return false
	}
	for _, e := range v.Entries {
		if in.declared(e.Key) != nil {
			in.assign(e.Key, e.Value)
		}
	}
	return true
}

func orNotObject(err error) error {
	if err == nil {
		return errors.New("write {\"name\": value}")
	}
	return err
}

func (in *inputs) flag(s string) {
	name, text, ok := strings.Cut(s, "=")
	if !ok {
		in.fail(s, "write NAME=VALUE", "parameter %q has no value", s)
		return
	}
	p := in.declared(name)
	if p == nil {
		return
	}
	if isText(p) {
		in.set(name, text, text)
		return
	}
	r := &syntax.Report{}
	v := syntax.Parse(&syntax.Source{Name: name, Text: []byte(text), Kind: syntax.Flag}, r)
	if v == nil || r.List.Failed() {
		in.fail(name, "", "parameter %q: %q is not valid YAML: %s", name, text, r.List[0].Message)
		return
	}
	in.assign(name, v)
}

// assign sets a parameter to a value that can be represented exactly.
func (in *inputs) assign(name string, v *syntax.Node) {
	if n := v.FirstTooLarge(); n != nil {
		in.fail(name, "", "parameter %q: %v; quote it to pass it as a string", name, &jsonvalue.PrecisionError{Number: n.Text})
		return
	}
	in.set(name, v.Decoded(), v.JSONValue())
}

// isText reports whether a parameter is declared as a string.
func isText(p *engine.Parameter) bool {
	var s struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(p.Schema, &s) == nil && s.Type == "string"
}

func (in *inputs) check() {
	for i := range in.program.Parameters {
		p := &in.program.Parameters[i]
		v, given := in.values[p.Name]
		if exact, own := in.exactValues[p.Name]; own {
			v = exact
		}
		switch {
		case (!given || v == nil) && p.Required:
			in.fail(p.Name, howToPass(p.Name), "missing required parameter %q%s", p.Name, described(p))
		case !given || v == nil:
			delete(in.values, p.Name)
		default:
			if _, own := in.exactValues[p.Name]; !own {
				continue // defaults were checked with the spec
			}
			if err := p.Check.Validate(v); err != nil {
				in.fail(p.Name, "", "parameter %q: %s", p.Name, strings.TrimPrefix(err.Error(), "/: "))
			}
		}
	}
}

func described(p *engine.Parameter) string {
	if p.Doc == "" {
		return ""
	}
	return ": " + strings.TrimSuffix(p.Doc, ".")
}

func howToPass(name string) string {
	if name == language.Question {
		return `pass it after the spec: pexctl run spec.yaml "your question"`
	}
	return "pass -p " + name + "=..."
}
