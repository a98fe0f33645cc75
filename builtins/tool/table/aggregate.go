package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const maxGroups = 10_000

// Ops are the aggregate functions.
var Ops = []string{"count", "sum", "min", "max", "avg"}

// Summary describes an aggregation.
type Summary struct {
	Op      string   // one of Ops
	Field   string   // "a.b" selects a member of an object; "" = the row itself (count: every row)
	GroupBy []string // fields to group by; none = one group
}

// Aggregate returns one row per group, ordered by the groups' keys: the fields of
// GroupBy, the number of aggregated values (count), and the result under the name of the
// op. leftOut is the number of rows that were skipped because the field is missing or
// null.
func Aggregate(rows []any, s Summary) (out []map[string]any, leftOut int, err error) {
	if !slices.Contains(Ops, s.Op) {
		return nil, 0, fmt.Errorf("unknown op %q; use %s", s.Op, strings.Join(Ops, ", "))
	}
	groups := map[string]*group{}
	for i, row := range rows {
		v := row
		if s.Field != "" {
			v = fieldValue(row, s.Field)
		}
		if v == nil && (s.Field != "" || s.Op != "count") {
			leftOut++
			continue
		}
		g, err := groupOf(groups, row, s.GroupBy)
		if err == nil {
			err = g.add(v, s.Op)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	if len(groups) == 0 && len(s.GroupBy) == 0 {
		groups[""] = &group{}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		row := groups[key].result(s.Op)
		for i, name := range s.GroupBy {
			row[name] = groups[key].by[i]
		}
		out = append(out, row)
	}
	return out, leftOut, nil
}

// groupOf returns the group of a row, and creates it if necessary.
func groupOf(groups map[string]*group, row any, by []string) (*group, error) {
	values := make([]any, len(by))
	for i, name := range by {
		values[i] = fieldValue(row, name)
	}
	key, err := sortable(values)
	if err != nil {
		return nil, err
	}
	g := groups[key]
	if g == nil {
		if len(groups) == maxGroups {
			return nil, fmt.Errorf("there are more than %d groups; group by a field with fewer values", maxGroups)
		}
		g = &group{by: values}
		groups[key] = g
	}
	return g, nil
}

// sortable returns a key that is unique and sorts like the values: null first, then
// numbers by value, then strings.
func sortable(values []any) (string, error) {
	var key strings.Builder
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			key.WriteString("0")
		case json.Number:
			d, err := parse(v.String())
			if err != nil {
				return "", err
			}
			key.WriteString("1" + d.sortable())
		case string:
			key.WriteString("2" + strings.ReplaceAll(v, "\x00", "\x00\xff"))
		default:
			b, err := json.Marshal(v)
			if err != nil {
				return "", err
			}
			key.WriteString("3" + string(b))
		}
		key.WriteString("\x00\x00")
	}
	return key.String(), nil
}

// fieldValue returns the value of a field, by its exact name or else as a dotted path.
func fieldValue(row any, name string) any {
	m, ok := row.(map[string]any)
	if !ok {
		return nil
	}
	if v, ok := m[name]; ok {
		return v
	}
	head, rest, ok := strings.Cut(name, ".")
	if !ok {
		return nil
	}
	return fieldValue(m[head], rest)
}

// group is the state of one group.
type group struct {
	by       []any
	count    int
	sum      decimal
	min, max any // decimal or string
}

func (g *group) add(v any, op string) error {
	g.count++
	switch op {
	case "count":
		return nil
	case "sum", "avg":
		d, err := numeric(v)
		if err != nil {
			return err
		}
		g.sum = g.sum.plus(d)
		return nil
	}
	if s, ok := v.(string); ok && !number().MatchString(s) {
		return g.updateBounds(s, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
	d, err := numeric(v)
	if err != nil {
		return err
	}
	return g.updateBounds(d, func(a, b any) int { return a.(decimal).compare(b.(decimal)) })
}

// updateBounds updates the minimum and maximum.
func (g *group) updateBounds(v any, compare func(a, b any) int) error {
	if g.min == nil {
		g.min, g.max = v, v
		return nil
	}
	_, text := v.(string)
	if _, before := g.min.(string); text != before {
		return errors.New("numbers and strings cannot be compared; exclude one of them in the query")
	}
	if compare(v, g.min) < 0 {
		g.min = v
	}
	if compare(v, g.max) > 0 {
		g.max = v
	}
	return nil
}

func (g *group) result(op string) map[string]any {
	row := map[string]any{"count": g.count}
	switch op {
	case "sum":
		row[op] = g.sum.number()
	case "avg":
		row[op] = nil
		if g.count > 0 {
			row[op] = g.sum.divide(g.count)
		}
	case "min":
		row[op] = outputValue(g.min)
	case "max":
		row[op] = outputValue(g.max)
	}
	return row
}

func outputValue(v any) any {
	if d, ok := v.(decimal); ok {
		return d.number()
	}
	return v
}

func numeric(v any) (decimal, error) {
	switch v := v.(type) {
	case json.Number:
		return parse(v.String())
	case string:
		if number().MatchString(v) {
			return parse(v)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return decimal{}, err
	}
	return decimal{}, fmt.Errorf("%.60s is not a number; exclude such rows in the query, or choose another field", text)
}
