package otel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/model"
)

// The JSON of the conventions: lists of messages, of parts and of definitions of tools. See
// gen-ai-input-messages.json and its neighbours in the conventions' repository.
type (
	chatMessage struct {
		Role  string `json:"role"`
		Parts []any  `json:"parts"`
	}
	outputMessage struct {
		chatMessage
		FinishReason string `json:"finish_reason"`
	}
	textContent struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	callPart struct {
		Type      string `json:"type"`
		ID        string `json:"id,omitempty"`
		Name      string `json:"name"`
		Arguments any    `json:"arguments,omitempty"`
	}
	resultPart struct {
		Type     string `json:"type"`
		ID       string `json:"id,omitempty"`
		Response any    `json:"response"`
	}
	// filePart is a file without its content, which the digest identifies.
	filePart struct {
		Type     string `json:"type"`
		MIMEType string `json:"mime_type,omitempty"`
		Modality string `json:"modality"`
		FileID   string `json:"file_id"`
		Name     string `json:"name,omitempty"`
		Size     int64  `json:"size,omitempty"`
	}
	definition struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
	// omission stands for what does not fit an attribute. It has the fields that messages,
	// parts and definitions need.
	omission struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Role    string `json:"role"`
		Parts   []any  `json:"parts"`
		Omitted int    `json:"omitted"`

		FinishReason string `json:"finish_reason"`
	}
)

func textPart(s string) any { return textContent{"text", s} }

// instructions splits the messages of a request into the system's at their start, and the rest.
func instructions(all []model.Message) (system, rest []model.Message) {
	for i := range all {
		if all[i].Role != model.System {
			return all[:i], all[i:]
		}
	}
	return all, nil
}

func partsOf(messages []model.Message) (out []any) {
	for i := range messages {
		out = append(out, messageParts(&messages[i])...)
	}
	return out
}

func messagesOf(messages []model.Message) (out []any) {
	for i := range messages {
		out = append(out, chatMessage{string(messages[i].Role), messageParts(&messages[i])})
	}
	return out
}

func messageParts(m *model.Message) []any {
	parts := []any{}
	for i := range m.Attachments {
		parts = append(parts, fileOf(&m.Attachments[i]))
	}
	switch text := m.Text.String(); {
	case m.Role == model.ToolRole:
		parts = append(parts, resultPart{"tool_call_response", m.CallID, jsonOrText(text)})
	case text != "":
		parts = append(parts, textPart(text))
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		parts = append(parts, callPart{"tool_call", c.ID, c.Name, jsonOrText(string(c.Args))})
	}
	return parts
}

func fileOf(a *model.Attachment) filePart {
	modality := "document"
	if a.Kind() == model.ImageFile {
		modality = "image"
	}
	return filePart{"file", a.MediaType, modality, "sha256:" + a.SHA256, a.BaseName(), a.Size}
}

// jsonOrText returns a text as JSON if it is an object or a list.
func jsonOrText(text string) any {
	b := bytes.TrimSpace([]byte(text))
	if len(b) > 0 && (b[0] == '{' || b[0] == '[') && json.Valid(b) {
		return json.RawMessage(b)
	}
	if text == "" {
		return nil
	}
	return text
}

// encode returns a value as JSON without secrets.
func (e encoder) encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return nil // what is encoded here always encodes
	}
	clean, _ := e.secrets.JSON(bytes.TrimSpace(b.Bytes()))
	return clean
}

// text returns a text without secrets, cut to the limit.
func (e encoder) text(s string) string {
	clean, _ := e.secrets.Text(s)
	return head(clean, e.limit)
}

// list returns a list as JSON. If it exceeds the limit, the oldest elements are omitted, and of
// the last one the ends of its texts.
func (e encoder) list(all []any) string {
	if len(all) == 0 {
		return ""
	}
	encoded := make([][]byte, len(all))
	for i, v := range all {
		encoded[i] = e.encode(v)
	}
	first, size := len(all), reserve
	for first > 0 && size+len(encoded[first-1])+1 <= e.limit {
		first--
		size += len(encoded[first]) + 1
	}
	if first == len(all) { // not even the last one fits
		first--
		encoded[first] = e.shorten(encoded[first], e.limit-reserve)
	}
	encoded = encoded[first:]
	if first > 0 {
		marker := e.encode(omission{Type: "omitted", Name: fmt.Sprintf("%d omitted", first), Role: "omitted", Parts: []any{}, Omitted: first, FinishReason: "stop"})
		encoded = append([][]byte{marker}, encoded...)
	}
	return "[" + string(bytes.Join(encoded, []byte(","))) + "]"
}

// reserve is the size of the brackets and the omission of a list.
const reserve = 256

// definitions returns tools as JSON. If they exceed the limit, the last ones are omitted.
func (e encoder) definitions(tools []model.ToolDef) string {
	if len(tools) == 0 {
		return ""
	}
	var encoded [][]byte
	size := reserve
	for i := range tools {
		t := &tools[i]
		b := e.encode(definition{"function", t.Name, t.Description, t.Input})
		if size += len(b) + 1; size > e.limit {
			n := len(tools) - i
			encoded = append(encoded, e.encode(omission{Type: "omitted", Name: fmt.Sprintf("%d omitted", n), Parts: []any{}, Omitted: n}))
			break
		}
		encoded = append(encoded, b)
	}
	return "[" + string(bytes.Join(encoded, []byte(","))) + "]"
}

// object returns a text as a JSON object: itself if it is one, else with the text as a field.
func (e encoder) object(text, field string) string {
	v := jsonOrText(text)
	if raw, ok := v.(json.RawMessage); !ok || raw[0] != '{' {
		v = map[string]any{field: v}
	}
	b := e.encode(v)
	if len(b) > e.limit {
		b = e.shorten(b, e.limit)
	}
	return string(b)
}

// shorten returns JSON of at most limit bytes: the longest strings are cut until it fits.
func (e encoder) shorten(b []byte, limit int) []byte {
	for most := limit / 2; most >= 16; most /= 2 {
		var v any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if d.Decode(&v) != nil {
			break
		}
		if out := (encoder{limit: limit}).encode(cut(v, most)); len(out) <= limit {
			return out
		}
	}
	return e.encode(omission{Type: "omitted", Name: "omitted", Role: "omitted", Parts: []any{}, Omitted: 1, FinishReason: "stop"})
}

// cut returns a JSON value whose strings have at most most bytes.
func cut(v any, most int) any {
	switch v := v.(type) {
	case string:
		return head(v, most)
	case []any:
		for i := range v {
			v[i] = cut(v[i], most)
		}
	case map[string]any:
		for k := range v {
			v[k] = cut(v[k], most)
		}
	}
	return v
}

// head returns the start of a text that exceeds a number of bytes, with a marker.
func head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := max(0, most-len("… [1234567890 bytes omitted]"))
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… [%d bytes omitted]", s[:n], len(s)-n)
}
