package testcase

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/jsonvalue"
)

// sources are the texts that the case itself gives, a line each; with them goes
// the file only, not where in it they stand.
func (t *try) sources() []dsl.Source {
	var out []dsl.Source
	add := func(path, text string) {
		for line := range strings.Lines(text) {
			out = append(out, dsl.Source{Path: path, File: t.c.Position.File, Text: strings.TrimRight(line, "\n")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.c.Parameters)) {
		texts("parameters."+name, t.c.Parameters[name], add)
	}
	if t.c.Given != nil {
		texts("given", jsonvalue.Plain(t.c.Given), add)
	}
	return out
}

// texts passes the texts in a value, with their paths.
func texts(path string, v any, yield func(path, text string)) {
	switch v := v.(type) {
	case string:
		yield(path, v)
	case []any:
		for i, it := range v {
			texts(fmt.Sprintf("%s[%d]", path, i), it, yield)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts(path+"."+name, v[name], yield)
		}
	}
}
