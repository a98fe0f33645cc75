package http

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/call"
)

// dialect is one llm_interface: how a conversation is put to an endpoint, and
// how its answer is read.
type dialect interface {
	// path is where the endpoint of a model is, below base_url.
	path(model string) string
	// values adds what the dialect has a shape of its own for. With apart the
	// template names the system prompt itself, so messages go without it.
	values(req *model.Request, apart bool, to map[string]any)
	// body is the whole body, of the values.
	body(values map[string]any) map[string]any
	// read reads an answer.
	read(req *model.Request, text []byte) (*draft, error)
	// traits says what the dialect has means for.
	traits() traits
}

// traits are what a dialect has means for.
type traits struct {
	calls  bool // tool calls
	worded bool // which it asks for in the system prompt
	schema bool // a field for the schema of a reply
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
	return nil, fmt.Errorf("there is no llm_interface %q", c.LLMInterface)
}

// native says whether a schema has a field of its own in the body.
func (m *chatModel) native() bool {
	switch m.config.StructuredOutput {
	case "native", "none":
		return true
	case "prompt":
		return false
	}
	return m.dialect.traits().schema || m.uses["schema"] || m.uses["response_format"]
}

// oneCall is said where a dialect has no field for parallel_tool_calls: false.
const oneCall = "Call at most one tool in each reply."

// values are what templates and bodies are filled with; what is unset is missing.
func (m *chatModel) values(req *model.Request) (map[string]any, error) {
	for _, t := range req.Tools {
		if len(t.Input) > 0 && !json.Valid(t.Input) {
			return nil, fmt.Errorf("input schema of tool %s is no JSON", t.Name)
		}
	}
	out := sampling(req.Params)
	if req.Schema != nil && m.config.StructuredOutput == "none" {
		unasked := *req
		unasked.Schema = nil
		req = &unasked
	}
	if req.Schema != nil {
		out["schema"] = req.Schema.Schema
	}
	if len(req.Tools) > 0 && !req.ParallelTools {
		out["parallel_tool_calls"] = false
	}
	out["prompt"] = call.Transcript(req.Messages, !m.uses["system"])
	m.dialect.values(req, m.uses["system"], out)
	return out, nil
}

// sampling are the values of a call's parameters. Temperature 0 is a value.
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

// put copies the values there are, by their names in a body: pairs of a name
// in a body and the name of a value.
func put(body, values map[string]any, pairs ...string) {
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
