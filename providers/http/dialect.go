package http

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// dialect is an llm_interface: how a conversation is sent to an endpoint, and how its
// response is parsed.
type dialect interface {
	// path returns the path of a model's endpoint below base_url.
	path(model string) string
	// values adds the values that need the dialect's format. With apart, the template has the system prompt separately,
	// and messages omit it.
	values(req *model.Request, apart bool, to map[string]any)
	// body returns the complete body made from the values.
	body(values map[string]any) map[string]any
	// read parses a response.
	read(req *model.Request, text []byte) (*rawReply, error)
	// traits returns what the dialect supports.
	traits() traits
}

// traits are what a dialect supports.
type traits struct {
	toolCalls bool // tool calls
	prompted  bool // requested in the system prompt
	schema    bool // a field for the reply schema
}

func interfaceOf(c *Config, base string) (dialect, error) {
	switch c.LLMInterface {
	case "":
		return plain{}, nil
	case "openai/v1/chat/completions":
		return chat{openai: strings.Contains(base+c.URL.Text, "//api.openai.com/")}, nil
	case "bedrock/converse/claude":
		return converse{}, nil
	case "bedrock/converse/deepseek_r1":
		return prompted{}, nil
	case "gemini/v1beta/generatecontent":
		return gemini{}, nil
	}
	return nil, fmt.Errorf("unknown llm_interface %q", c.LLMInterface)
}

// nativeSchema reports whether the body has a field for a schema.
func (m *chatModel) nativeSchema() bool {
	switch m.config.StructuredOutput {
	case "native", "none":
		return true
	case "prompt":
		return false
	}
	return m.dialect.traits().schema || m.uses["schema"] || m.uses["response_format"]
}

// oneCall is used if a dialect has no field for parallel_tool_calls: false.
const oneCall = "Call at most one tool in each reply."

// values returns the values for templates and bodies; unset ones are missing.
func (m *chatModel) values(req *model.Request) (map[string]any, error) {
	for _, t := range req.Tools {
		if len(t.Input) > 0 && !json.Valid(t.Input) {
			return nil, fmt.Errorf("input schema of tool %s is not valid JSON", t.Name)
		}
	}
	out := sampling(req.Params)
	if req.Schema != nil && m.config.StructuredOutput == "none" {
		withoutSchema := *req
		withoutSchema.Schema = nil
		req = &withoutSchema
	}
	if req.Schema != nil {
		out["schema"] = req.Schema.Schema
	}
	if len(req.Tools) > 0 && !req.ParallelTools {
		out["parallel_tool_calls"] = false
	}
	out["prompt"] = modelhttp.Transcript(req.Messages, !m.uses["system"])
	m.dialect.values(req, m.uses["system"], out)
	return out, nil
}

// sampling returns the values of a call's parameters. A temperature of 0 is included.
func sampling(p model.Params) map[string]any {
	out := map[string]any{}
	if p.Model != "" {
		out["model"] = p.Model
	}
	if p.Temperature != nil {
		out["temperature"] = *p.Temperature
	}
	if p.TopP != nil {
		out["top_p"] = *p.TopP
	}
	if p.Seed != nil {
		out["seed"] = *p.Seed
	}
	if p.MaxOutputTokens > 0 {
		out["max_output_tokens"] = p.MaxOutputTokens
	}
	if len(p.Stop) > 0 {
		out["stop"] = list(p.Stop)
	}
	return out
}

// copyValues copies existing values to a body: pairs of a name in the body and the name of a
// value.
func copyValues(body, values map[string]any, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if v, ok := values[pairs[i+1]]; ok {
			body[pairs[i]] = v
		}
	}
}

func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, t := range texts {
		out[i] = t
	}
	return out
}
