package trajectory

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Field is an argument that differs from the expectation. Path is its location ("user.tags[1]"); "" means the
// arguments as a whole.
type Field struct {
	Path            string
	Expected        any
	Actual          any
	Missing, Excess bool // the actual call lacks it; the expected call does
}

// differences collects differing arguments, up to a limit.
type differences struct {
	found []Field
	limit int
}

// compare compares arguments with those of an expected call.
func compare(want map[string]any, got any, r Rule, limit int) []Field {
	d := differences{limit: limit}
	if want == nil || r.Compare == Ignore {
		return nil
	}
	args, ok := got.(map[string]any)
	if !ok {
		return []Field{{Expected: want, Actual: got}}
	}
	of := func(name string) Compare {
		if c := r.Fields[name]; c != "" {
			return c
		}
		return r.Compare
	}
	d.objects("", want, args, of)
	return d.found
}

func (d *differences) add(f Field) { d.found = append(d.found, f) }

func (d *differences) full() bool { return len(d.found) >= d.limit }

// objects compares two mappings, each member by its own rule.
func (d *differences) objects(at string, want, got map[string]any, of func(string) Compare) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if d.full() {
			return
		}
		w := want[name]
		g, there := got[name]
		switch {
		case of(name) == Ignore:
		case !there:
			d.add(Field{Path: member(at, name), Expected: w, Missing: true})
		default:
			d.values(member(at, name), w, g, of(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, expected := want[name]; !expected && of(name) == Whole && !d.full() {
			d.add(Field{Path: member(at, name), Actual: got[name], Excess: true})
		}
	}
}

// values compares two values and records the innermost differences.
func (d *differences) values(at string, want, got any, c Compare) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			d.objects(at, w, g, func(string) Compare { return c })
			return
		}
	case []any:
		if g, ok := got.([]any); ok && len(w) == len(g) {
			for i := range w {
				d.values(at+"["+strconv.Itoa(i)+"]", w[i], g[i], c)
			}
			return
		}
	}
	if !d.full() && !jsonvalue.Equal(want, got) {
		d.add(Field{Path: at, Expected: want, Actual: got})
	}
}

func member(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// decodeArgs returns the arguments of a call. Arguments that are not valid JSON are returned as a string.
func decodeArgs(raw json.RawMessage) any {
	if len(raw) == 0 {
		return map[string]any{}
	}
	var v any
	if !json.Valid(raw) {
		return string(raw)
	}
	if err := jsonvalue.Unmarshal(raw, &v); err != nil {
		return string(raw)
	}
	return v
}
