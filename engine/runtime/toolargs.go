package runtime

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

// arguments makes the arguments of a call from what the model wrote. Malformed
// ones are repaired where exactly one reading of them fits the tool's schema. The
// record lists each change, and the run warns about it.
func (c *toolRun) arguments() (json.RawMessage, error) {
	t, written := c.tool, c.rec.Args
	args, coerced, err := t.arguments(c.s, written)
	if err == nil {
		how := "coerced"
		if len(c.u.Repairs) > 0 {
			how = "repaired"
		}
		c.warnRepaired(how, slices.Concat(c.u.Repairs, coerced))
		return args, nil
	}
	repair := c.s.r.host.Repair
	if repair == nil || c.u.Cut {
		return nil, err
	}
	schema := t.Info().Input
	read, repairs, why := repair(engine.MalformedArguments{
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
	if args, coerced, err = t.arguments(c.s, read); err != nil {
		return nil, err
	}
	whole := tool.ArgsRepair{Repair: strings.Join(repairs, ", "), Written: jsonvalue.Valid(written), Used: read}
	c.warnRepaired("repaired", slices.Concat(c.u.Repairs, []tool.ArgsRepair{whole}, coerced))
	return args, nil
}

// warnRepaired notes repairs in the record and warns about them. The warning
// names no values. The record leaves out values that the author fixed: the model
// did not write them.
func (c *toolRun) warnRepaired(how string, repairs []tool.ArgsRepair) {
	if len(repairs) == 0 {
		return
	}
	named := make([]string, len(repairs))
	for i, r := range repairs {
		if named[i] = r.Repair; r.Path != "" {
			named[i] = r.Path + ": " + r.Repair
		}
		if !c.tool.fixes(r.Path) {
			r.Written, r.Used = c.shown(r.Written), c.shown(r.Used)
			c.rec.Repairs = append(c.rec.Repairs, r)
		}
	}
	what := "the arguments of " + c.rec.Tool
	if c.u.StepID != "" {
		what = "step " + c.u.StepID + ": " + what
	}
	c.s.Record(engine.WarningAdded{Text: what + " were " + how + ": " + strings.Join(named, ", "), Repair: engine.ArgumentsFixed})
}

// shown is a value as a record of a repair has it: without secrets, and the head
// and tail of one that is long.
func (c *toolRun) shown(v json.RawMessage) json.RawMessage {
	const most = 512
	if v = c.tool.mask.JSON(v); len(v) <= most {
		return v
	}
	return jsonvalue.Encode(tool.Excerpt(string(v), most))
}

// fixes says whether the spec fixes the argument that a JSON Pointer leads into.
func (t *BoundTool) fixes(pointer string) bool {
	if t.Spec == nil {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	return slices.ContainsFunc(t.Spec.With, func(f tool.Fixed) bool { return f.Name == name })
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
