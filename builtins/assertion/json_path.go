package assertion

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/trial"
)

// JSONPathConfig configures the check json_path.
type JSONPathConfig struct {
	Path   component.FilterRef `yaml:"path" required:"true" doc:"JSONPath (RFC 9535) into the output; without output.schema in the spec, into the response, which must be JSON."`
	Equals component.Value     `yaml:"equals" vars:"case,parameters" doc:"Expected value, or the list of values if several are selected. A string also matches the JSON value it contains."`
	Exists *bool               `yaml:"exists" doc:"true: at least one value is selected (default if nothing else is set); false: no value is selected."`
	Count  *int                `yaml:"count" min:"0" doc:"Expected number of selected values."`
	Min    *float64            `yaml:"min" doc:"Minimum: each selected value must be a number of at least this."`
	Max    *float64            `yaml:"max" doc:"Maximum: each selected value must be a number of at most this."`
}

// JSONPath checks values within the answer.
var JSONPath = component.New("json_path", "Checks the values that a JSONPath selects from the output: existence, count, equality or numeric range.",
	func() JSONPathConfig { return JSONPathConfig{} }, newJSONPath)

type jsonPath struct{ config *JSONPathConfig }

var _ trial.Check = jsonPath{}

func newJSONPath(c *JSONPathConfig, _ trial.CheckSettings) (trial.Check, error) {
	wants := c.Count != nil || c.Min != nil || c.Max != nil || !c.Equals.IsZero()
	switch {
	case c.Path.IsZero():
		return nil, errors.New("json_path requires path")
	case c.Exists != nil && !*c.Exists && wants:
		return nil, errors.New("exists: false cannot be combined with equals, count, min or max")
	case c.Min != nil && c.Max != nil && *c.Min > *c.Max:
		return nil, fmt.Errorf("min %s is above max %s", formatNumber(*c.Min), formatNumber(*c.Max))
	case !wants && c.Exists == nil:
		there := true
		out := *c
		out.Exists = &there
		c = &out
	}
	return jsonPath{c}, nil
}

// Check implements trial.Check.
func (j jsonPath) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) {
	values, missing, err := selectValues(s, j.config.Path)
	if err != nil {
		return trial.Mark{}, err
	}
	if missing != "" {
		return boolean(false, "", s.Result.Response, missing), nil
	}
	wrong, expected, err := j.wrong(s, values)
	if err != nil {
		return trial.Mark{}, err
	}
	if wrong != "" {
		return boolean(false, expected, valuesText(values), wrong), nil
	}
	return boolean(true, expected, valuesText(values), j.config.Path.Source+" selects what is wanted"), nil
}

// wrong returns what is wrong with the selected values, "" if nothing.
func (j jsonPath) wrong(s *trial.Subject, values []any) (wrong, expected string, err error) {
	c, at := j.config, j.config.Path.Source
	switch {
	case c.Exists != nil && *c.Exists != (len(values) > 0):
		return fmt.Sprintf("%s selects %s", at, text.Count(len(values), "value")), "", nil
	case c.Count != nil && *c.Count != len(values):
		return fmt.Sprintf("%s selects %s", at, text.Count(len(values), "value")), text.Count(*c.Count, "value"), nil
	}
	if !c.Equals.IsZero() {
		want, err := renderValue(c.Equals, s)
		if err != nil {
			return "", "", err
		}
		if expected = jsonvalue.Compact(want); !selects(values, want) {
			return at + " selects something else", expected, nil
		}
	}
	if c.Min != nil || c.Max != nil {
		expected = strings.TrimPrefix(expected+", "+bounds(c.Min, c.Max), ", ")
		if len(values) == 0 {
			return at + " selects nothing", expected, nil
		}
		for _, v := range values {
			if wrong := outside(v, c.Min, c.Max); wrong != "" {
				return at + " selects " + wrong, expected, nil
			}
		}
	}
	return "", expected, nil
}

// selects reports whether want is one of the selected values, or all of them as a list.
func selects(values []any, want any) bool {
	if len(values) == 1 && same(want, values[0]) {
		return true
	}
	return len(values) != 1 && jsonvalue.Equal(want, values)
}

// same reports whether a selected value equals want. Strings also match the JSON value
// they contain, because templates produce strings.
func same(want, got any) bool {
	if jsonvalue.Equal(want, got) {
		return true
	}
	text, isText := want.(string)
	if _, bothText := got.(string); !isText || bothText {
		return false
	}
	return equal(text, jsonvalue.Compact(got), false)
}

// outside explains why a value is out of range, "" if it is not.
func outside(v any, least, most *float64) string {
	n, ok := jsonvalue.Number(v)
	switch {
	case !ok:
		return brief(jsonvalue.Compact(v)) + ", which is not a number"
	case least != nil && n.Cmp(exactly(*least)) < 0:
		return jsonvalue.Text(v) + ", below " + formatNumber(*least)
	case most != nil && n.Cmp(exactly(*most)) > 0:
		return jsonvalue.Text(v) + ", above " + formatNumber(*most)
	}
	return ""
}

// exactly returns the decimal number that the author wrote: 0.1, not its floating-point
// approximation.
func exactly(x float64) *big.Rat {
	if n, ok := jsonvalue.Number(x); ok {
		return n
	}
	n := new(big.Rat)
	n.SetFloat64(x) // beyond 1e400 there is no float64
	return n
}

// bounds formats a range.
func bounds(least, most *float64) string {
	switch {
	case most == nil:
		return "at least " + formatNumber(*least)
	case least == nil:
		return "at most " + formatNumber(*most)
	}
	return formatNumber(*least) + " to " + formatNumber(*most)
}

// valuesText formats the selected values.
func valuesText(values []any) string {
	if len(values) == 1 {
		return jsonvalue.Compact(values[0])
	}
	return jsonvalue.Compact(values)
}
