package host

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/engine/tool"
)

// fitTo returns a function that coerces and validates arguments against an input schema.
func fitTo(input json.RawMessage, schemas *schema.Cache) (tool.FitFunc, error) {
	check, err := schemas.Compile(input)
	if err != nil {
		return nil, err
	}
	return func(args json.RawMessage) (json.RawMessage, []tool.ArgsRepair, error) { return fit(check, args) }, nil
}

// fitToServer is fitTo for the input schema of a server's tool, which may use an earlier draft. The server validates
// what we do not understand.
func fitToServer(input json.RawMessage) (tool.FitFunc, error) {
	check, _, err := schema.CompileForeign(input)
	if err != nil {
		return nil, err
	}
	return func(args json.RawMessage) (json.RawMessage, []tool.ArgsRepair, error) { return fit(check, args) }, nil
}

// fit applies lossless coercions to a tool's arguments and validates the result.
func fit(check *schema.Schema, args json.RawMessage) (fit json.RawMessage, coerced []tool.ArgsRepair, err error) {
	v, err := schema.Decode(args)
	if err != nil {
		return nil, nil, err
	}
	if check.Validate(v) == nil {
		return args, nil, nil
	}
	v, changed := check.Coerce(v)
	if err := check.Validate(v); err != nil {
		return nil, nil, err
	}
	for _, c := range changed {
		r := tool.ArgsRepair{Path: c.Path, Repair: c.Types()}
		if r.Written, err = json.Marshal(c.From); err != nil {
			return nil, nil, err
		}
		if r.Used, err = json.Marshal(c.To); err != nil {
			return nil, nil, err
		}
		coerced = append(coerced, r)
	}
	fit, err = json.Marshal(v)
	return fit, coerced, err
}
