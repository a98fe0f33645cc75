package engine

import (
	"encoding/json"
	"fmt"
	"strings"
)

// arguments makes the arguments of a call from what the model wrote. Malformed
// ones are repaired where exactly one reading of them fits the tool's schema;
// the run warns about each repair.
func (c *toolRun) arguments() (json.RawMessage, error) {
	t, written := c.tool, c.rec.Args
	args, coerced, err := t.arguments(c.s, written)
	if err == nil {
		c.warnRepaired("coerced", coerced)
		return args, nil
	}
	repair := c.s.r.host.Repair
	if repair == nil || c.u.Cut {
		return nil, err
	}
	schema := t.info().Input
	args, repairs, why := repair(MalformedArguments{
		Text:      string(written),
		OtherTool: func(name string) bool { _, ok := c.s.r.tools[name]; return ok && name != c.u.Tool },
		Fits: func(args json.RawMessage) bool {
			_, _, err := t.arguments(c.s, args)
			return err == nil && declared(schema, args)
		},
	})
	if why != nil {
		return nil, fmt.Errorf("%w\n(%w)", err, why)
	}
	if args, coerced, err = t.arguments(c.s, args); err != nil {
		return nil, err
	}
	c.warnRepaired("repaired", append(repairs, coerced...))
	return args, nil
}

func (c *toolRun) warnRepaired(how string, repairs []string) {
	if len(repairs) == 0 {
		return
	}
	what := "the arguments of " + c.rec.Tool
	if c.u.StepID != "" {
		what = "step " + c.u.StepID + ": " + what
	}
	c.s.Record(Warned{Text: what + " were " + how + ": " + strings.Join(repairs, ", "), Repair: ArgumentsFixed})
}

// declared says whether a schema that lists its properties, and says nothing
// about others, lists all of args: a repair must not invent an argument.
func declared(schema, args json.RawMessage) bool {
	var in map[string]json.RawMessage
	if json.Unmarshal(schema, &in) != nil || len(in["properties"]) == 0 {
		return true
	}
	for _, open := range []string{"additionalProperties", "patternProperties", "unevaluatedProperties", "$ref", "allOf", "anyOf", "oneOf"} {
		if _, ok := in[open]; ok {
			return true
		}
	}
	var properties, given map[string]json.RawMessage
	if json.Unmarshal(in["properties"], &properties) != nil || json.Unmarshal(args, &given) != nil {
		return true
	}
	for name := range given {
		if _, ok := properties[name]; !ok {
			return false
		}
	}
	return true
}
