package genai

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
)

// body encodes a request.
func (m *chatModel) body(req *model.Request) ([]byte, error) {
	generation, err := m.generation(req)
	if err != nil {
		return nil, err
	}
	tools, err := declarations(req.Tools)
	if err != nil {
		return nil, err
	}
	h := history{req: req, needsSignature: m.checksSignatures(req)}
	h.write()
	h.instruct(m.instructions(req)...)
	b, err := json.Marshal(body{
		Contents: h.contents, SystemInstruction: h.system, Tools: tools,
		SafetySettings: m.safety(), GenerationConfig: generation,
	})
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return merged(b, m.config.ExtraBody)
}

// generation returns the parameters of a call, nil if all are unset. A temperature of 0 is sent.
func (m *chatModel) generation(req *model.Request) (*generation, error) {
	p := req.Params
	out := &generation{
		Temperature: p.Temperature, TopP: p.TopP, StopSequences: p.Stop,
		MaxOutputTokens: p.MaxOutputTokens, ThinkingConfig: m.thinking(),
	}
	if p.Seed != nil {
		if int64(int32(*p.Seed)) != *p.Seed {
			return nil, fmt.Errorf("seed %d: the API only accepts 32-bit seeds", *p.Seed)
		}
		out.Seed = p.Seed
	}
	if err := m.format(out, req); err != nil {
		return nil, err
	}
	if empty, err := json.Marshal(out); err == nil && string(empty) == "{}" {
		return nil, nil
	}
	return out, nil
}

func (m *chatModel) thinking() *thinking {
	c := &m.config
	if c.ThinkingLevel == "" && c.ThinkingBudget == nil && !c.IncludeThoughts {
		return nil
	}
	return &thinking{IncludeThoughts: c.IncludeThoughts, ThinkingBudget: c.ThinkingBudget, ThinkingLevel: strings.ToUpper(c.ThinkingLevel)}
}

// format requests JSON for the reply schema.
func (m *chatModel) format(out *generation, req *model.Request) error {
	if req.Schema == nil {
		return nil
	}
	schema, err := portable(req.Schema.Schema)
	if err != nil {
		return fmt.Errorf("reply schema %s is not valid JSON: %w", req.Schema.Name, err)
	}
	if !m.native(req) {
		return nil
	}
	out.ResponseMIMEType = "application/json"
	if m.config.StructuredOutput != "json_object" {
		out.ResponseJSONSchema = schema
	}
	return nil
}

// native reports whether JSON is requested with the API's own fields. Models before Gemini 3 reject them together with
// tools.
func (m *chatModel) native(req *model.Request) bool {
	return req.Schema != nil && m.config.StructuredOutput != "none" && (len(req.Tools) == 0 || m.checksSignatures(req))
}

// instructions returns texts for settings without a field in the API.
func (m *chatModel) instructions(req *model.Request) (out []string) {
	if len(req.Tools) > 0 && !req.ParallelTools {
		out = append(out, oneCall)
	}
	if req.Schema != nil && m.config.StructuredOutput != "none" && !m.native(req) {
		out = append(out, "When you answer without calling a function, answer with JSON of this schema and nothing else:\n"+string(req.Schema.Schema))
	}
	return out
}

const oneCall = "Call at most one function at a time."

var geminiVersion = text.Regexp(`gemini-(\d+)`)

// checksSignatures reports whether a model checks thought signatures: Gemini 3 and later, and the names of the latest models.
func (m *chatModel) checksSignatures(req *model.Request) bool {
	name := m.name
	if req.Params.Model != "" {
		name = req.Params.Model
	}
	if found := geminiVersion().FindStringSubmatch(name); found != nil {
		n, err := strconv.Atoi(found[1])
		return err == nil && n >= 3
	}
	return strings.Contains(name, "gemini-") && strings.HasSuffix(name, "-latest")
}

func (m *chatModel) safety() (out []*threshold) {
	for _, category := range slices.Sorted(maps.Keys(m.config.SafetySettings)) {
		out = append(out, &threshold{
			Category: category, Threshold: m.config.SafetySettings[category],
		})
	}
	return out
}

// declarations returns the tools with their JSON Schemas.
func declarations(tools []model.ToolDef) ([]*toolList, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	one := &toolList{}
	for _, t := range tools {
		f := &function{Name: t.Name, Description: t.Description}
		if len(t.Input) > 0 {
			schema, err := portable(t.Input)
			if err != nil {
				return nil, fmt.Errorf("input schema of tool %s: %w", t.Name, err)
			}
			f.ParametersJSONSchema = schema
		}
		one.FunctionDeclarations = append(one.FunctionDeclarations, f)
	}
	return []*toolList{one}, nil
}

// merged adds the author's fields to an object. Objects are merged, other values replaced.
func merged(object []byte, extra map[string]any) (json.RawMessage, error) {
	if len(extra) == 0 {
		return object, nil
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(object, &fields); err != nil || fields == nil {
		return json.Marshal(extra)
	}
	for name, value := range extra {
		var err error
		if inner, ok := value.(map[string]any); ok && fields[name] != nil {
			fields[name], err = merged(fields[name], inner)
		} else {
			fields[name], err = json.Marshal(value)
		}
		if err != nil {
			return nil, fmt.Errorf("extra_body.%s: %w", name, err)
		}
	}
	return json.Marshal(fields)
}
