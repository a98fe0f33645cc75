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

// Names of the tools made from a server's resources and prompts.
const (
	listResources = "list_resources"
	readResource  = "read_resource"
	promptPrefix  = "prompt_"
)

// Limits of a list of resources.
const (
	maxResources     = 500
	maxResourceBytes = 1 << 20 // many times what a model receives
)

// synthCall implements a call of a synthetic tool.
type synthCall func(ctx context.Context, s *session, args map[string]json.RawMessage) (*tool.Output, error)

// syntheticGlobs returns names and globs of the synthetic tools that the settings enable.
func (c *Config) syntheticGlobs() (out []string) {
	if c.Resources {
		out = append(out, listResources, readResource)
	}
	for _, g := range c.Prompts {
		out = append(out, promptPrefix+g)
	}
	return out
}

// shadowed reports whether a tool of the server has the name of a synthetic tool and is not selected by include.
func (c *Config) shadowed(name string) bool {
	return len(c.Include) > 0 && !text.MatchAny(c.Include, name) && text.MatchAny(c.syntheticGlobs(), name)
}

// listSynthetic adds the tools made from the server's resources and prompts.
func (s *session) listSynthetic(ctx context.Context, c *catalogue) error {
	caps := s.client.InitializeResult().Capabilities
	if c.config.Resources && (caps == nil || caps.Resources != nil) {
		c.addSynthetic(tool.Definition{
			Name: listResources, Description: "Lists the resources and resource templates of the server.",
			Input: json.RawMessage(`{"additionalProperties":false,"properties":{},"type":"object"}`),
		}, callListResources)
		c.addSynthetic(tool.Definition{
			Name: readResource, Description: "Reads a resource of the server. Use " + listResources + " to get the URIs.",
			Input: json.RawMessage(`{"additionalProperties":false,"properties":{"uri":{"description":"URI of the resource.","type":"string"}},"required":["uri"],"type":"object"}`),
		}, callReadResource)
	}
	if len(c.config.Prompts) == 0 || caps != nil && caps.Prompts == nil {
		return nil
	}
	return s.prompts(ctx, c)
}

// addSynthetic adds a synthetic tool; false = stop reading.
func (c *catalogue) addSynthetic(def tool.Definition, m synthCall) bool {
	if _, exists := c.known[def.Name]; exists {
		c.warn("the server has its own tool %s, which replaces the one for its resources or prompts", tail(def.Name))
		return true
	}
	yes := true
	def.BuiltIn, def.Hints = true, tool.Hints{ReadOnly: &yes}
	return c.addKnown(knownTool{def, m})
}

// prompts adds the prompts enabled by the settings, page by page.
func (s *session) prompts(ctx context.Context, c *catalogue) error {
	params, count := &sdk.ListPromptsParams{}, 0
	for range maxPages {
		page, err := s.client.ListPrompts(ctx, params)
		if err != nil {
			return s.callError(ctx, err)
		}
		for _, p := range page.Prompts {
			count++
			if p == nil || p.Name == "" || !text.MatchAny(c.config.Prompts, p.Name) {
				continue
			}
			if !c.addSynthetic(promptTool(p), callPrompt(p.Name)) {
				return nil
			}
		}
		if page.NextCursor == "" || count > maxTools {
			return nil
		}
		params = &sdk.ListPromptsParams{Cursor: page.NextCursor}
	}
	return nil
}

// promptTool returns the definition of a tool that returns a prompt's text.
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
		Name: promptPrefix + p.Name, Title: p.Title, Description: strings.TrimSpace("Returns the text of a prompt of the server. " + p.Description),
		Input: toJSON(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
	}
}

// callPrompt returns the text of a prompt.
func callPrompt(name string) synthCall {
	return func(ctx context.Context, s *session, args map[string]json.RawMessage) (*tool.Output, error) {
		params := &sdk.GetPromptParams{Meta: traceMeta(ctx), Name: name, Arguments: map[string]string{}}
		for key, raw := range args {
			var text string
			if err := json.Unmarshal(raw, &text); err != nil {
				return nil, fmt.Errorf("argument %s must be a string", key)
			}
			params.Arguments[key] = text
		}
		var res *sdk.GetPromptResult
		err := s.multiRound(ctx, func(answers sdk.InputResponseMap, state string) (sdk.InputRequestMap, string, error) {
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
				parts = append(parts, string(m.Role)+": "+contentText(m.Content))
			}
		}
		return &tool.Output{Text: strings.Join(parts, "\n\n")}, nil
	}
}

// callReadResource returns the text of a resource.
func callReadResource(ctx context.Context, s *session, args map[string]json.RawMessage) (*tool.Output, error) {
	var uri string
	if json.Unmarshal(args["uri"], &uri) != nil || uri == "" {
		return nil, errors.New("uri is missing; " + listResources + " lists the URIs")
	}
	var res *sdk.ReadResourceResult
	err := s.multiRound(ctx, func(answers sdk.InputResponseMap, state string) (sdk.InputRequestMap, string, error) {
		var err error
		if res, err = s.client.ReadResource(ctx, &sdk.ReadResourceParams{Meta: traceMeta(ctx), URI: uri, InputResponses: answers, RequestState: state}); err != nil {
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
			parts = append(parts, resourceText(c))
		}
	}
	return &tool.Output{Text: strings.Join(parts, "\n")}, nil
}

// callListResources lists the resources.
func callListResources(ctx context.Context, s *session, _ map[string]json.RawMessage) (*tool.Output, error) {
	var lines []string
	size := 0
	line := func(uri, name, mime, description string) {
		lines = append(lines, text.OneLine(fmt.Sprintf("%s %s %s %s", uri, name, mime, description)))
		size += len(lines[len(lines)-1])
	}
	params := &sdk.ListResourcesParams{Meta: traceMeta(ctx)}
	for range maxPages {
		page, err := s.client.ListResources(ctx, params)
		if err != nil {
			return nil, s.callError(ctx, err)
		}
		for _, r := range page.Resources {
			if r != nil {
				line(r.URI, r.Name, r.MIMEType, r.Description)
			}
		}
		if page.NextCursor == "" || len(lines) >= maxResources || size > maxResourceBytes {
			break
		}
		params = &sdk.ListResourcesParams{Meta: traceMeta(ctx), Cursor: page.NextCursor}
	}
	if len(lines) > maxResources {
		lines = append(lines[:maxResources], "[more resources are not shown]")
	}
	// Templates are few and optional.
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
