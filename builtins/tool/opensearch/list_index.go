package opensearch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

const maxIndices = 500 // maximum number of indices in the output

// listIndex returns the factory of opensearch_list_index.
func listIndex(sign Signer) component.Factory[tool.Settings, tool.Tool] {
	return component.New("opensearch_list_index", "Lists the indices of an OpenSearch cluster with document count and size.",
		defaults, func(c *Config, s tool.Settings) (tool.Tool, error) {
			s.Name = cmp.Or(s.Name, "opensearch_list_index")
			at, err := newServer(*c, sign, s)
			if err != nil {
				return nil, err
			}
			return &listIndexTool{at.toolInfo("Lists the indices of the OpenSearch cluster with health, document count and size.", listIndexInput), at}, nil
		})
}

const listIndexInput = `{"type":"object","properties":{` +
	`"indices":{"type":"array","items":{"type":"string"},"description":"Index names; wildcards such as logs-* are allowed (default: all)."}` +
	`},"required":[],"additionalProperties":false}`

type listIndexTool struct {
	info   tool.Info
	server *server
}

var _ tool.Tool = (*listIndexTool)(nil)

// toolInfo returns the Info of a tool.
func (s *server) toolInfo(description, input string) tool.Info {
	if len(s.config.Indices) > 0 {
		description += " Only these may be used: " + strings.Join(s.config.Indices, ", ") + "."
	}
	return tool.Info{
		Name: s.settings.Name, Description: cmp.Or(s.settings.Description, description),
		Input: json.RawMessage(input), Effect: tool.ReadEffect,
	}
}

// Info implements tool.Tool.
func (t *listIndexTool) Info() tool.Info { return t.info }

// indexRow is a row of _cat/indices.
type indexRow struct {
	Index  string `json:"index"`
	Health string `json:"health,omitempty"`
	Status string `json:"status,omitempty"`
	Docs   string `json:"docs.count,omitempty"`
	Size   string `json:"store.size,omitempty"`
}

// Call implements tool.Tool.
func (t *listIndexTool) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	var names []string
	if err := arguments(call, argument{"indices", &names, "a list of names"}); err != nil {
		return nil, err
	}
	if slices.Contains(names, "*") || slices.Contains(names, "_all") {
		names = nil
	}
	for _, name := range names {
		if err := t.server.config.checkIndex(name); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		names = t.server.config.Indices
	}
	path := "/_cat/indices"
	if len(names) > 0 {
		path += "/" + strings.Join(names, ",")
	}
	body, err := t.server.ask(ctx, call, apiRequest{path: path, query: url.Values{
		"format": {"json"}, "h": {"index,health,status,docs.count,store.size"}, "s": {"index"},
	}})
	if err != nil {
		return nil, err
	}
	var rows []indexRow
	if err := json.Unmarshal(body, &rows); err != nil {
		return nil, fmt.Errorf("decode OpenSearch's list of indices: %w", err)
	}
	return t.allowedRows(rows)
}

// allowedRows returns the rows that the author allows, up to maxListed.
func (t *listIndexTool) allowedRows(rows []indexRow) (*tool.Output, error) {
	open := make([]indexRow, 0, len(rows))
	for _, row := range rows {
		if t.server.config.allows(row.Index) {
			open = append(open, row)
		}
	}
	left := max(0, len(open)-maxIndices)
	data, err := jsonvalue.Marshal(open[:len(open)-left])
	if err != nil {
		return nil, err
	}
	out := &tool.Output{Data: data}
	switch {
	case left > 0:
		out.Text = fmt.Sprintf("%s\n[%d of %d indices shown; pass indices such as logs-* for others]", data, maxIndices, len(open))
	case len(open) == 0:
		out.Text = "No accessible index matches."
	}
	return out, nil
}
