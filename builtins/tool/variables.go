package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// VariablesConfig configures variables. It has no settings.
type VariablesConfig struct{}

// Access implements tool.AccessDescriber.
func (*VariablesConfig) Access() []string { return nil }

// Variables stores named values for later steps and runs of a conversation.
var Variables = component.New("variables", "Stores named values, such as lists and tables, for later steps and for later runs of the same conversation.",
	func() VariablesConfig { return VariablesConfig{} }, newVariables)

const variablesInput = `{"type":"object","properties":{` +
	`"action":{"type":"string","enum":["set","get","list","delete"],"description":"set: store value under name, replacing any previous value. get: return the whole value. list: return all names with type, size and the beginning of the value. delete: remove name."},` +
	`"name":{"type":"string","description":"Name of the variable (for set, get and delete), such as open_orders. Letters, digits, _ . and - only."},` +
	`"value":{"description":"The value (for set): any JSON, such as a string, a number, a list or an object."}` +
	`},"required":["action"],"additionalProperties":false}`

// Limits of the variables of a conversation. A value fits into the default limit of a
// tool's output.
const (
	maxValue     = 32 << 10  // bytes of one value's JSON
	maxValues    = 256 << 10 // bytes of all values
	maxVariables = 64
)

var variableName = text.Regexp(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$`)

type variables struct{ info tool.Info }

var (
	_ tool.Tool          = (*variables)(nil)
	_ tool.SessionKeeper = (*variables)(nil)
)

func newVariables(_ *VariablesConfig, s tool.Settings) (tool.Tool, error) {
	return &variables{toolInfo(s, "variables",
		"Stores named values that later steps and later runs of this conversation can read. Set a variable when an exact value will be needed again: a list of ids, a table, a setting. Refer to it by name in reports instead of copying it. Put remarks into a note or the report.",
		variablesInput, tool.IdempotentEffect)}, nil
}

// Info implements tool.Tool.
func (t *variables) Info() tool.Info { return t.info }

// SessionPart implements tool.SessionKeeper.
func (t *variables) SessionPart() memory.SessionPart { return memory.VariablesPart }

type variablesArgs struct {
	Action string          `json:"action"`
	Name   string          `json:"name"`
	Value  json.RawMessage `json:"value"`
}

// Call implements tool.Tool.
func (t *variables) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[variablesArgs](ctx, call)
	if err != nil {
		return nil, err
	}
	kept, err := sessionOf(call)
	if err != nil {
		return nil, err
	}
	if args.Action == "list" {
		return listVariables(ctx, kept)
	}
	do := map[string]func(context.Context, tool.CallSession) (*tool.Output, error){
		"set": args.set, "get": args.get, "delete": args.remove,
	}[args.Action]
	switch {
	case do == nil:
		return nil, fmt.Errorf(`argument "action" must be set, get, list or delete, not %q`, args.Action)
	case args.Name == "":
		return nil, fmt.Errorf(`argument "name" is missing; %s needs the name of a variable`, args.Action)
	case !variableName().MatchString(args.Name):
		return nil, fmt.Errorf("%.80q cannot be the name of a variable: use up to 64 letters, digits, _ . and -", args.Name)
	}
	return do(ctx, kept)
}

func (a variablesArgs) set(ctx context.Context, kept tool.CallSession) (*tool.Output, error) {
	var value bytes.Buffer
	if len(a.Value) == 0 {
		return nil, errors.New(`argument "value" is missing; pass the value to store, or use delete`)
	}
	if err := json.Compact(&value, a.Value); err != nil {
		return nil, fmt.Errorf(`argument "value": %w`, err)
	}
	if value.Len() > maxValue {
		return nil, fmt.Errorf("the value has %d bytes, the limit is %d: store a part of it, or write it to a file", value.Len(), maxValue)
	}
	err := kept.Update(ctx, func(s *memory.Session) error {
		all := maps.Clone(s.Variables)
		if all == nil {
			all = map[string]json.RawMessage{}
		}
		all[a.Name] = bytes.Clone(value.Bytes())
		if err := fits(all); err != nil {
			return err
		}
		s.Variables = all
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &tool.Output{Text: fmt.Sprintf("%s is set (%s)", a.Name, text.Count(value.Len(), "byte"))}, nil
}

// fits returns an error if there are too many variables or they are too large.
func fits(all map[string]json.RawMessage) error {
	if len(all) > maxVariables {
		return fmt.Errorf("the limit of %d variables is reached: delete one that is no longer needed", maxVariables)
	}
	size := 0
	for _, v := range all {
		size += len(v)
	}
	if size > maxValues {
		return fmt.Errorf("all variables together would have %d bytes, the limit is %d: delete one that is no longer needed", size, maxValues)
	}
	return nil
}

// get returns a string unchanged and any other value as JSON.
func (a variablesArgs) get(ctx context.Context, kept tool.CallSession) (*tool.Output, error) {
	s, err := kept.Read(ctx)
	if err != nil {
		return nil, err
	}
	value, ok := s.Variables[a.Name]
	if !ok {
		return nil, unknownVariable(a.Name, s)
	}
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return &tool.Output{Text: text}, nil
	}
	return &tool.Output{Data: value}, nil
}

func unknownVariable(name string, s memory.Session) error {
	if len(s.Variables) == 0 {
		return fmt.Errorf("unknown variable %q; no variables are set", name)
	}
	return fmt.Errorf("unknown variable %q; the variables are %s", name, strings.Join(slices.Sorted(maps.Keys(s.Variables)), ", "))
}

// remove deletes a variable. Deleting an unknown variable is not an error, so that a
// repeated call has the same result.
func (a variablesArgs) remove(ctx context.Context, kept tool.CallSession) (*tool.Output, error) {
	err := kept.Update(ctx, func(s *memory.Session) error {
		s.Variables = maps.Clone(s.Variables)
		delete(s.Variables, a.Name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &tool.Output{Text: a.Name + " is not set any more"}, nil
}

func listVariables(ctx context.Context, kept tool.CallSession) (*tool.Output, error) {
	s, err := kept.Read(ctx)
	if err != nil {
		return nil, err
	}
	all := s.View().Variables
	if len(all) == 0 {
		return &tool.Output{Text: "no variable is set"}, nil
	}
	lines := make([]string, len(all))
	for i, v := range all {
		lines[i] = v.String()
	}
	return &tool.Output{Text: strings.Join(lines, "\n")}, nil
}

// sessionOf returns the session of the conversation, or an error if there is none.
func sessionOf(call *tool.Call) (tool.CallSession, error) {
	if call.Session == nil {
		return nil, errors.New("nothing is stored between runs because the agent has no memory (memory.backend is none); put important information into your report instead")
	}
	return call.Session, nil
}
