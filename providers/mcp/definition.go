package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/tool"
)

// list reads and stores the server's tools.
func (s *session) list(ctx context.Context) (*tool.Listing, error) {
	s.mu.Lock()
	first := s.firstListing
	s.firstListing = nil
	s.mu.Unlock()
	if first != nil {
		return first, nil
	}
	c := &catalogue{config: &s.manager.server.config, known: map[string]knownTool{}}
	if err := s.listTools(ctx, c); err != nil {
		return nil, err
	}
	if err := s.listSynthetic(ctx, c); err != nil {
		return nil, err
	}
	c.warnUnmatched()
	s.mu.Lock()
	s.known = c.known
	s.mu.Unlock()
	return &tool.Listing{Server: s.name(), Tools: c.tools, Warnings: c.warnings}, nil
}

// listTools reads the server's tools page by page.
func (s *session) listTools(ctx context.Context, c *catalogue) error {
	if caps := s.client.InitializeResult().Capabilities; caps != nil && caps.Tools == nil {
		return nil
	}
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := s.client.ListTools(ctx, params)
		if err != nil {
			return s.callError(ctx, err)
		}
		for _, tool := range page.Tools {
			if !c.add(tool) {
				return nil
			}
		}
		if page.NextCursor == "" {
			return nil
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	c.warn("the server lists its tools on more than %d pages; the rest are ignored", maxPages)
	return nil
}

// name returns the server's name and version.
func (s *session) name() string {
	info := s.client.InitializeResult().ServerInfo
	if info == nil {
		return ""
	}
	return strings.TrimSpace(info.Name + " " + info.Version)
}

// definition converts a tool. It normalizes schemas, so that the order of keys does not
// matter.
func definition(t *sdk.Tool) (tool.Definition, error) {
	def := tool.Definition{Name: t.Name, Title: t.Title, Description: t.Description}
	if t.Name == "" {
		return def, fmt.Errorf("a tool without a name is ignored")
	}
	input, err := jsonvalue.Marshal(t.InputSchema)
	if err == nil && t.OutputSchema != nil {
		def.Output, err = jsonvalue.Marshal(t.OutputSchema)
	}
	if err != nil {
		return def, fmt.Errorf("tool %q is ignored: its schema cannot be encoded: %w", t.Name, err)
	}
	if def.Input = input; t.InputSchema == nil {
		def.Input = json.RawMessage(`{"type":"object"}`)
	}
	if a := t.Annotations; a != nil {
		def.Title = cmp.Or(def.Title, a.Title)
		def.Hints = tool.Hints{ReadOnly: &a.ReadOnlyHint, Destructive: a.DestructiveHint, Idempotent: &a.IdempotentHint, OpenWorld: a.OpenWorldHint}
	}
	return def, nil
}

// fingerprint returns the parts of a definition for comparison, as a run's journal stores
// them.
func fingerprint(def tool.Definition) map[string]string {
	def = def.Visible()
	return map[string]string{
		"description":   def.Description,
		"title":         def.Title,
		"input schema":  canonical(def.Input),
		"output schema": canonical(def.Output),
		"hints":         hintString(def.Hints),
		"kind":          fmt.Sprint(def.BuiltIn),
	}
}

func canonical(raw json.RawMessage) string {
	var v any
	if len(raw) == 0 || jsontemplate.Decode(raw, &v) != nil {
		return string(raw)
	}
	out, err := jsonvalue.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}

// hintString formats the effective hints: a missing hint equals its default.
func hintString(h tool.Hints) string {
	value := func(b *bool, fallback bool) bool {
		if b == nil {
			return fallback
		}
		return *b
	}
	return fmt.Sprint(value(h.ReadOnly, false), value(h.Destructive, true), value(h.Idempotent, false), value(h.OpenWorld, true))
}
