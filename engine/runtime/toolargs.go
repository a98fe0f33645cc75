package runtime

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

// arguments returns the arguments for a call from what the model wrote. Malformed
// arguments are repaired if exactly one reading of them fits the tool's schema. The
// record lists each change and the run warns about it.
func (c *toolRun) arguments() (json.RawMessage, error) {
	t, written := c.tool, c.rec.Args
	args, coerced, err := t.arguments(c.s, written)
	if err == nil {
		how := "coerced"
		if len(c.inv.Repairs) > 0 {
			how = "repaired"
		}
		c.warnRepaired(how, slices.Concat(c.inv.Repairs, coerced))
		return args, nil
	}
	repair := c.s.r.host.Repair
	if repair == nil || c.inv.Truncated {
		return nil, err
	}
	schema := t.Info().Input
	read, repairs, why := repair(engine.MalformedArguments{
		Text:      string(written),
		OtherTool: func(name string) bool { _, ok := c.s.r.tools[name]; return ok && name != c.inv.Tool },
		Fits: func(args json.RawMessage) bool {
			_, _, err := t.arguments(c.s, args)
			return err == nil && allDeclared(schema, args)
		},
	})
	if why != nil {
		return nil, fmt.Errorf("%w\n(%w)", err, why)
	}
	if args, coerced, err = t.arguments(c.s, read); err != nil {
		return nil, err
	}
	whole := tool.ArgsRepair{Repair: strings.Join(repairs, ", "), Written: jsonvalue.Valid(written), Used: read}
	c.warnRepaired("repaired", slices.Concat(c.inv.Repairs, []tool.ArgsRepair{whole}, coerced))
	return args, nil
}

// warnRepaired adds repairs to the record and warns about them. The warning contains no
// values. The record omits values fixed by the spec, which the model did not write.
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
			r.Written, r.Used = c.redactExcerpt(r.Written), c.redactExcerpt(r.Used)
			c.rec.Repairs = append(c.rec.Repairs, r)
		}
	}
	what := "the arguments of " + c.rec.Tool
	if c.inv.StepID != "" {
		what = "step " + c.inv.StepID + ": " + what
	}
	c.s.Record(engine.WarningAdded{Text: what + " were " + how + ": " + strings.Join(named, ", "), Repair: engine.ArgumentsFixed})
}

// redactExcerpt returns a value for the record of a repair: redacted, and shortened to
// its head and tail.
func (c *toolRun) redactExcerpt(v json.RawMessage) json.RawMessage {
	const most = 512
	if v = c.tool.mask.JSON(v); len(v) <= most {
		return v
	}
	return jsonvalue.Encode(tool.Excerpt(string(v), most))
}

// fixes reports whether the spec fixes the argument that a JSON Pointer leads into.
func (t *BoundTool) fixes(pointer string) bool {
	if t.Spec == nil {
		return false
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	return slices.ContainsFunc(t.Spec.With, func(f tool.Fixed) bool { return f.Name == name })
}

// allDeclared reports whether args has only properties that the schema lists. Schemas
// without properties, or with keywords that may declare others, pass. A repair must not
// invent an argument.
func allDeclared(schema, args json.RawMessage) bool {
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

// effect returns the tool's effect.
func (t *BoundTool) effect() tool.Effect {
	if t.cachedEffect != "" {
		return t.cachedEffect
	}
	return t.Binding.Effect()
}

func (t *BoundTool) maxOutput() int {
	if t.Spec != nil && t.Spec.MaxOutputBytes > 0 {
		return t.Spec.MaxOutputBytes
	}
	return tool.DefaultMaxOutput
}

// arguments returns the arguments a tool is called with: an object that fits its schema,
// with the spec's fixed values applied.
func (t *BoundTool) arguments(s *scope, raw json.RawMessage) (args json.RawMessage, coerced []tool.ArgsRepair, err error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' || !json.Valid(raw) {
		return nil, nil, fmt.Errorf("the arguments of %s are not a JSON object: %s", t.Info().Name, tool.Excerpt(string(raw), 200))
	}
	if err := tool.Unambiguous(raw); err != nil {
		return nil, nil, fmt.Errorf("%s cannot be called: %w", t.Info().Name, err)
	}
	if t.Spec != nil && len(t.Spec.With) > 0 {
		m := map[string]json.RawMessage{}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, nil, err
		}
		for _, f := range t.Spec.With {
			dropRespelled(m, f.Name)
			m[f.Name] = jsonvalue.Encode(f.Value.Render(s.r.lookup(raw)))
		}
		merged, err := json.Marshal(m)
		if err != nil {
			return nil, nil, err
		}
		raw = merged
	}
	if t.Fit == nil {
		return raw, nil, nil
	}
	args, coerced, err = t.Fit(raw)
	if err != nil {
		return nil, nil, fmt.Errorf("the arguments of %s do not match its schema:\n%w", t.Info().Name, err)
	}
	return args, coerced, nil
}

// dropRespelled removes arguments that differ from a fixed one only in case: many
// programs treat "To" and "to" as the same and use the last one.
func dropRespelled(m map[string]json.RawMessage, fixed string) {
	maps.DeleteFunc(m, func(name string, _ json.RawMessage) bool { return strings.EqualFold(name, fixed) })
}

func (r *run) unknownTool(name string) string {
	names := make([]string, 0, len(r.tools))
	for n := range r.tools {
		names = append(names, n)
	}
	sort.Strings(names)
	if len(names) == 0 {
		return fmt.Sprintf("unknown tool %q: this agent has no tools", name)
	}
	return fmt.Sprintf("unknown tool %q; the tools are %s", name, strings.Join(names, ", "))
}
