package opensearch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// indexMapping returns the factory of opensearch_index_mapping.
func indexMapping(sign Signer) component.Factory[tool.Settings, tool.Tool] {
	return component.New("opensearch_index_mapping", "Returns the fields of an OpenSearch index and their types.",
		defaults, func(c *Config, s tool.Settings) (tool.Tool, error) {
			s.Name = cmp.Or(s.Name, "opensearch_index_mapping")
			at, err := newServer(*c, sign, s)
			if err != nil {
				return nil, err
			}
			return &indexMappingTool{at.toolInfo("Returns the fields of an OpenSearch index and their types. Call it before you write a query.", indexMappingInput), at}, nil
		})
}

const indexMappingInput = `{"type":"object","properties":{` +
	`"index":{"type":"string","description":"Index name; wildcards such as logs-* are allowed."}` +
	`},"required":["index"],"additionalProperties":false}`

type indexMappingTool struct {
	info   tool.Info
	server *server
}

var _ tool.Tool = (*indexMappingTool)(nil)

// Info implements tool.Tool.
func (t *indexMappingTool) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *indexMappingTool) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	var index string
	if err := arguments(call, argument{"index", &index, "a name"}); err != nil {
		return nil, err
	}
	if err := t.server.config.checkIndex(index); err != nil {
		return nil, err
	}
	body, err := t.server.ask(ctx, call, apiRequest{path: "/" + target(index) + "/_mapping"})
	if err != nil {
		return nil, err
	}
	var all map[string]struct {
		Mappings mapping `json:"mappings"`
	}
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("decode OpenSearch's mapping: %w", err)
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "index %s:\n", name)
		m := all[name].Mappings
		if lines := m.lines("", 0); len(lines) > 0 {
			text.WriteString(strings.Join(lines, "\n") + "\n")
		} else {
			text.WriteString("  no fields\n")
		}
	}
	if len(all) == 0 {
		return &tool.Output{Text: "No index matches."}, nil
	}
	return &tool.Output{Text: strings.TrimSuffix(text.String(), "\n"), Data: body}, nil
}

// mapping is a field, or an index as a field with properties.
type mapping struct {
	Type       string             `json:"type"`
	Path       string             `json:"path"` // set for an alias
	Properties map[string]mapping `json:"properties"`
	Fields     map[string]mapping `json:"fields"` // the same value, indexed in other ways
}

// lines lists the fields below prefix, one per line, sorted.
func (m mapping) lines(prefix string, depth int) []string {
	if depth > maxDepth {
		return nil
	}
	var out []string
	for _, below := range []map[string]mapping{m.Properties, m.Fields} {
		for _, name := range slices.Sorted(maps.Keys(below)) {
			field := below[name]
			full := strings.TrimPrefix(prefix+"."+name, ".")
			switch {
			case field.Type == "alias":
				out = append(out, "  "+full+" alias of "+field.Path)
			case field.Type != "" && field.Type != "object":
				out = append(out, "  "+full+" "+field.Type)
			}
			out = append(out, field.lines(full, depth+1)...)
		}
	}
	return out
}
