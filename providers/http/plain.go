package http

import (
	"strings"

	"github.com/pexctl/pex/engine/jsontemplate"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// plain is an endpoint without a known interface: text in, text out.
type plain struct{}

func (plain) path(string) string { return "" }

func (plain) traits() traits { return traits{} }

func (plain) values(req *model.Request, apart bool, to map[string]any) {
	system, rest := modelhttp.SplitSystem(req.Messages)
	if len(system) > 0 {
		to["system"] = strings.Join(system, "\n\n")
	}
	var messages []any
	if !apart {
		for _, text := range system {
			messages = append(messages, map[string]any{"role": "system", "content": text})
		}
	}
	for _, m := range rest {
		role := "user"
		if m.Role == model.Assistant {
			role = "assistant"
		}
		messages = append(messages, map[string]any{"role": role, "content": modelhttp.MessageText(m)})
	}
	to["messages"] = messages
}

func (plain) body(map[string]any) map[string]any { return map[string]any{} }

// read accepts text: a JSON string, or the member response of an object, as in OpenSearch
// connectors.
func (plain) read(_ *model.Request, text []byte) (*rawReply, error) {
	var v any
	if err := jsontemplate.Decode(text, &v); err != nil {
		return nil, modelhttp.Bad("the endpoint's reply is not valid JSON: %s", modelhttp.ErrorBody(text))
	}
	if o, ok := v.(map[string]any); ok {
		v = o["response"]
	}
	s, ok := v.(string)
	if !ok {
		return nil, modelhttp.Bad("cannot find the text in the response: set options.response_filter: %s", modelhttp.ErrorBody(text))
	}
	return &rawReply{text: s}, nil
}

// read parses the response to a request: text by the author's filter, the rest by the
// dialect.
func (m *chatModel) read(req *model.Request, kind string, text []byte) (*rawReply, error) {
	_, isPlain := m.dialect.(plain)
	filtered := !m.config.ResponseFilter.IsZero()
	if isPlain && !filtered && strings.HasPrefix(kind, "text/plain") {
		return &rawReply{text: string(text)}, nil
	}
	if isPlain && filtered {
		out := &rawReply{}
		err := m.filter(text, out)
		return out, err
	}
	out, err := m.dialect.read(req, text)
	if err == nil && filtered && len(out.calls) == 0 && !out.notFromModel() {
		err = m.filter(text, out)
	}
	return out, err
}

// filter extracts the text of a response with options.response_filter.
func (m *chatModel) filter(text []byte, into *rawReply) error {
	var v any
	if err := jsontemplate.Decode(text, &v); err != nil {
		return modelhttp.Bad("the endpoint's reply is not valid JSON: %s", modelhttp.ErrorBody(text))
	}
	found, err := m.config.ResponseFilter.Apply(v)
	if err != nil {
		return modelhttp.Bad("options.response_filter %s: %s", m.config.ResponseFilter.Source, err)
	}
	if len(found) == 0 {
		return modelhttp.Bad("options.response_filter %s selects nothing in the endpoint's reply: %s", m.config.ResponseFilter.Source, modelhttp.ErrorBody(text))
	}
	into.text = ""
	for _, f := range found {
		into.text += contentText(f)
	}
	return nil
}

// contentText returns the text in a value: a string, or the joined text of content blocks in a list. It ignores blocks
// without text (reasoning, calls). Other objects become JSON, which the model may have been asked for.
func contentText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, item := range v {
			if o, ok := item.(map[string]any); !ok {
				b.WriteString(contentText(item))
			} else if text, ok := o["text"].(string); ok && o["thought"] != true {
				b.WriteString(text)
			}
		}
		return b.String()
	case map[string]any:
		if text, ok := v["text"].(string); ok {
			return text
		}
	case nil:
		return ""
	}
	return jsontemplate.Text(v)
}
