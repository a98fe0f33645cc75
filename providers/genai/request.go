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

// body writes a request.
func (m *chatModel) body(req *model.Request) ([]byte, error) {
	generation, err := m.generation(req)
	if err != nil {
		return nil, err
	}
	tools, err := declarations(req.Tools)
	if err != nil {
		return nil, err
	}
	h := history{req: req, signed: m.signed(req)}
	h.write()
	h.instruct(m.words(req)...)
	b, err := json.Marshal(body{
		Contents: h.contents, SystemInstruction: h.system, Tools: tools,
		SafetySettings: m.safety(), GenerationConfig: generation,
	})
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return merged(b, m.config.ExtraBody)
}

// generation writes the parameters of a call, nil where all are unset.
// Temperature 0 is a value, not an absence.
func (m *chatModel) generation(req *model.Request) (*generation, error) {
	p := req.Params
	out := &generation{
		Temperature: p.Temperature, TopP: p.TopP, StopSequences: p.Stop,
		MaxOutputTokens: p.MaxOutputTokens, ThinkingConfig: m.thinking(),
	}
	if p.Seed != nil {
		if int64(int32(*p.Seed)) != *p.Seed {
			return nil, fmt.Errorf("seed %d: the API takes seeds of 32 bits only", *p.Seed)
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

// format asks for JSON of a schema.
func (m *chatModel) format(out *generation, req *model.Request) error {
	if req.Schema == nil {
		return nil
	}
	schema, err := portable(req.Schema.Schema)
	if err != nil {
		return fmt.Errorf("reply schema %s is no JSON: %w", req.Schema.Name, err)
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

// native says whether JSON is asked for by the API's own means. Models before
// Gemini 3 refuse that beside tools.
func (m *chatModel) native(req *model.Request) bool {
	return req.Schema != nil && m.config.StructuredOutput != "none" && (len(req.Tools) == 0 || m.signed(req))
}

// words are what the API has no field for.
func (m *chatModel) words(req *model.Request) (out []string) {
	if len(req.Tools) > 0 && !req.ParallelTools {
		out = append(out, oneCall)
	}
	if req.Schema != nil && m.config.StructuredOutput != "none" && !m.native(req) {
		out = append(out, "When you answer without calling a function, answer with JSON of this schema and nothing else:\n"+string(req.Schema.Schema))
	}
	return out
}

const oneCall = "Call at most one function at a time."

var generationOf = text.Regexp(`gemini-(\d+)`)

// signed says whether the model is of Gemini 3 or later, which check thought
// signatures; the names that always mean the latest do.
func (m *chatModel) signed(req *model.Request) bool {
	name := m.name
	if req.Params.Model != "" {
		name = req.Params.Model
	}
	if found := generationOf().FindStringSubmatch(name); found != nil {
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

// declarations are the tools, by the field that takes JSON Schema.
func declarations(tools []model.ToolDef) ([]*declared, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	one := &declared{}
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
	return []*declared{one}, nil
}

// merged puts the author's own fields into an object: objects into objects,
// all else in place of what was there.
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
