package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// The names of tools that are made of what a server has beside tools.
const (
	listResources = "list_resources"
	readResource  = "read_resource"
	promptPrefix  = "prompt_"
)

// Bounds of a list of resources.
const (
	maxResources     = 500
	maxResourceBytes = 1 << 20 // many times what is passed on to a model
)

// maker answers a call of such a tool.
type maker func(ctx context.Context, s *session, args map[string]json.RawMessage) (*tool.Output, error)

// made are names and globs of the tools that the settings ask to be made.
func (c *Config) made() (out []string) {
	if c.Resources {
		out = append(out, listResources, readResource)
	}
	for _, g := range c.Prompts {
		out = append(out, promptPrefix+g)
	}
	return out
}

// hidden says whether a tool of the server's own, which include leaves out, has
// the name of one that is made.
func (c *Config) hidden(name string) bool {
	return len(c.Include) > 0 && !text.MatchAny(c.Include, name) && text.MatchAny(c.made(), name)
}

// listMade notes the tools that are made of the server's resources and prompts.
func (s *session) listMade(ctx context.Context, c *catalogue) error {
	able := s.client.InitializeResult().Capabilities
	if c.config.Resources && (able == nil || able.Resources != nil) {
		c.make(tool.Definition{
			Name: listResources, Description: "Lists the resources of the server, and templates of addresses of more.",
			Input: json.RawMessage(`{"additionalProperties":false,"properties":{},"type":"object"}`),
		}, resources)
		c.make(tool.Definition{
			Name: readResource, Description: "Reads a resource of the server. " + listResources + " tells the addresses.",
			Input: json.RawMessage(`{"additionalProperties":false,"properties":{"uri":{"description":"Address of the resource.","type":"string"}},"required":["uri"],"type":"object"}`),
		}, resource)
	}
	if len(c.config.Prompts) == 0 || able != nil && able.Prompts == nil {
		return nil
	}
	return s.prompts(ctx, c)
}

// make notes a tool that is made; false = no more are wanted.
func (c *catalogue) make(def tool.Definition, m maker) bool {
	if _, taken := c.known[def.Name]; taken {
		c.warn("the server has a tool %s of its own, which is taken instead of the one that would be made of its resources or prompts", tail(def.Name))
		return true
	}
	yes := true
	def.Own, def.Hints = true, tool.Hints{ReadOnly: &yes}
	return c.keep(known{def, m})
}

// prompts notes the prompts that the settings ask for, page by page.
func (s *session) prompts(ctx context.Context, c *catalogue) error {
	params, seen := &sdk.ListPromptsParams{}, 0
	for range maxPages {
		page, err := s.client.ListPrompts(ctx, params)
		if err != nil {
			return s.failed(ctx, err)
		}
		for _, p := range page.Prompts {
			seen++
			if p == nil || p.Name == "" || !text.MatchAny(c.config.Prompts, p.Name) {
				continue
			}
			if !c.make(promptTool(p), promptOf(p.Name)) {
				return nil
			}
		}
		if page.NextCursor == "" || seen > maxTools {
			return nil
		}
		params = &sdk.ListPromptsParams{Cursor: page.NextCursor}
	}
	return nil
}

// promptTool is a prompt as a tool that gives its text.
func promptTool(p *sdk.Prompt) tool.Definition {
	properties, required := map[string]any{}, []string{}
	for _, a := range p.Arguments {
		if a == nil {
			continue
		}
		properties[a.Name] = map[string]string{"type": "string", "description": a.Description}
		if a.Required {
			required = append(required, a.Name)
		}
	}
	return tool.Definition{
		Name: promptPrefix + p.Name, Title: p.Title, Description: strings.TrimSpace("Gives the text of a prompt of the server. " + p.Description),
		Input: encoded(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
	}
}

// promptOf answers with the text of a prompt.
func promptOf(name string) maker {
	return func(ctx context.Context, s *session, args map[string]json.RawMessage) (*tool.Output, error) {
		params := &sdk.GetPromptParams{Name: name, Arguments: map[string]string{}}
		for key, raw := range args {
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, fmt.Errorf("argument %s is no text", key)
			}
			params.Arguments[key] = text
		}
		var res *sdk.GetPromptResult
		err := s.rounds(ctx, func(answers sdk.InputResponseMap, state string) (sdk.InputRequestMap, string, error) {
			again := *params
			again.InputResponses, again.RequestState = answers, state
			var err error
			if res, err = s.client.GetPrompt(ctx, &again); err != nil {
				return nil, "", err
			}
			return res.InputRequests, res.RequestState, nil
		})
		if err != nil {
			return nil, err
		}
		var parts []string
		for _, m := range res.Messages {
			if m != nil {
				parts = append(parts, string(m.Role)+": "+block(m.Content))
			}
		}
		return &tool.Output{Text: strings.Join(parts, "\n\n")}, nil
	}
}

// resource answers with the text of a resource.
func resource(ctx context.Context, s *session, args map[string]json.RawMessage) (*tool.Output, error) {
	var uri string
	if json.Unmarshal(args["uri"], &uri) != nil || uri == "" {
		return nil, errors.New("uri is missing; " + listResources + " tells the addresses")
	}
	var res *sdk.ReadResourceResult
	err := s.rounds(ctx, func(answers sdk.InputResponseMap, state string) (sdk.InputRequestMap, string, error) {
		var err error
		if res, err = s.client.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri, InputResponses: answers, RequestState: state}); err != nil {
			return nil, "", err
		}
		return res.InputRequests, res.RequestState, nil
	})
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, c := range res.Contents {
		switch {
		case c == nil:
		case len(res.Contents) == 1 && len(c.Blob) == 0:
			parts = append(parts, c.Text)
		default:
			parts = append(parts, contents(c))
		}
	}
	return &tool.Output{Text: strings.Join(parts, "\n")}, nil
}

// resources answers with what resources there are.
func resources(ctx context.Context, s *session, _ map[string]json.RawMessage) (*tool.Output, error) {
	var lines []string
	size := 0
	line := func(uri, name, mime, description string) {
		lines = append(lines, text.OneLine(fmt.Sprintf("%s %s %s %s", uri, name, mime, description)))
		size += len(lines[len(lines)-1])
	}
	params := &sdk.ListResourcesParams{}
	for range maxPages {
		page, err := s.client.ListResources(ctx, params)
		if err != nil {
			return nil, s.failed(ctx, err)
		}
		for _, r := range page.Resources {
			if r != nil {
				line(r.URI, r.Name, r.MIMEType, r.Description)
			}
		}
		if page.NextCursor == "" || len(lines) >= maxResources || size > maxResourceBytes {
			break
		}
		params = &sdk.ListResourcesParams{Cursor: page.NextCursor}
	}
	if len(lines) > maxResources {
		lines = append(lines[:maxResources], "[there are more]")
	}
	// Templates are few, and not every server has them.
	if page, err := s.client.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{}); err == nil {
		for _, r := range page.ResourceTemplates {
			if r != nil {
				line(r.URITemplate, r.Name, r.MIMEType, r.Description)
			}
		}
	}
	if len(lines) == 0 {
		return &tool.Output{Text: "the server has no resources"}, nil
	}
	return &tool.Output{Text: strings.Join(lines, "\n")}, nil
}
