package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
	"github.com/pexctl/pex/server/jsonbody"
	"github.com/pexctl/pex/server/problem"
)

// common is what requests for chat completions and responses share.
type common struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Metadata map[string]string `json:"metadata"`
	Tools    []json.RawMessage `json:"tools"`
	// Pex is an extension.
	Pex struct {
		Parameters json.RawMessage `json:"parameters"` // of the agent, besides the question
	} `json:"pex"`

	body []byte
}

// read reads the body of a request into request, whose members have the names used. All
// others are ignored, which the client learns from a header.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, request any, used []string) ([]byte, error) {
	body, bad := jsonbody.Read(w, r, h.o.MaxBody)
	if bad != nil {
		return nil, bad
	}
	if err := json.Unmarshal(body, request); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			field := strings.TrimPrefix(wrong.Field, "common.")
			return nil, invalid(field, "invalid_type", "%s must be %s, not %s", field, typeName(wrong.Type.Kind().String()), wrong.Value)
		}
		return nil, problem.New(problem.InvalidJSON, "the request body must be a JSON object")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil { // null
		return nil, problem.New(problem.InvalidJSON, "the request body must be a JSON object")
	}
	maps.DeleteFunc(members, func(name string, value json.RawMessage) bool {
		return slices.Contains(used, name) || string(value) == "null" || strings.ContainsFunc(name, unicode.IsControl)
	})
	if ignored := slices.Sorted(maps.Keys(members)); len(ignored) > 0 {
		w.Header().Set("X-Pex-Ignored", strings.Join(ignored, ", "))
	}
	return body, nil
}

// typeName returns the JSON type of a Go kind.
func typeName(kind string) string {
	switch kind {
	case "struct", "map":
		return "an object"
	case "slice":
		return "an array"
	case "bool":
		return "a boolean"
	case "int":
		return "an integer"
	}
	return "a " + kind
}

// message is a message of a conversation.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// read returns the text and the files of the message, whose place in the request is param.
func (m message) read(param string) (text string, files []*file, err error) {
	if len(m.Content) == 0 || json.Unmarshal(m.Content, &text) == nil { // null leaves it empty
		return text, nil, nil
	}
	var parts []content
	if json.Unmarshal(m.Content, &parts) != nil {
		return "", nil, invalid(param+".content", "invalid_type", "%s.content must be a string or an array of parts", param)
	}
	var all []string
	for i := range parts {
		p, at := &parts[i], fmt.Sprintf("%s.content[%d]", param, i)
		f, err := p.file(at)
		switch {
		case err != nil:
			return "", nil, err
		case f != nil:
			files = append(files, f)
		case p.Type == "text", p.Type == "input_text", p.Type == "output_text":
			all = append(all, p.Text)
		case p.Type == "refusal":
		default:
			return "", nil, invalid(at+".type", unsupported, "content of type %q is not supported; send text, images or files", p.Type)
		}
	}
	return strings.Join(all, "\n\n"), files, nil
}

// dialog is the conversation in a request.
type dialog struct {
	question string // the last message of the user
	files    []*file
	earlier  []memory.Interaction
}

// conversation returns the last message of the user and the turns before it. Instructions are
// those of the spec, so the messages of a system are ignored, and so are the files of earlier
// messages. param is the list in the request.
func conversation(w http.ResponseWriter, param string, messages []message) (d dialog, err error) {
	type plain struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var all []plain
	for i, m := range messages {
		at := fmt.Sprintf("%s[%d]", param, i)
		text, files, err := m.read(at)
		switch {
		case err != nil:
			return d, err
		case m.Role == "user" || m.Role == "assistant":
			all = append(all, plain{m.Role, text})
			if d.files = files; len(files) > 0 && i < len(messages)-1 {
				w.Header().Add("X-Pex-Ignored", at+" (files)")
			}
		case m.Role == "system" || m.Role == "developer":
			w.Header().Add("X-Pex-Ignored", at)
		default:
			return d, invalid(at+".role", unsupported, "messages of the role %q are not supported; use user or assistant", m.Role)
		}
	}
	d.earlier, d.question, err = dsl.Messages(jsonvalue.Encode(all))
	if err == nil && d.question == "" {
		return d, invalid(param, "invalid_value", "the last message must have the role user, and a text: it is the question")
	}
	return d, err
}

// checkTools rejects tools of the client: a run uses those of its spec.
func checkTools(param string, tools []json.RawMessage) error {
	if len(tools) == 0 {
		return nil
	}
	return invalid(param, unsupported, "%s: tools of the client are not supported; an agent uses the tools of its spec", param)
}

// checkFormat rejects a format of the answer other than that of the agent. schema is nil
// unless the format has one.
func checkFormat(a *agents.Agent, param, format string, schema json.RawMessage) error {
	own := a.Program.Output
	switch {
	case format == "" || format == "text",
		format == "json_object" && own != nil,
		format == "json_schema" && own != nil && bytes.Equal(canonical(schema), canonical(own.Schema.JSON)):
		return nil
	}
	return invalid(param, unsupported, "%s: the format of an answer is that of the spec of %s; use text or the schema of its output", param, a.Name)
}

func canonical(body []byte) []byte { return jsonvalue.Encode(jsonvalue.Plain(body)) }

const maxConversationID = 200 // bytes

// conversationID returns the id of the conversation of a request; "" = none.
func conversationID(r *http.Request, explicit string) (string, error) {
	for _, id := range []string{explicit, r.Header.Get("X-Conversation-Id"), r.Header.Get("X-OpenWebUI-Chat-Id")} {
		switch {
		case id == "" || id == "null" || id == "undefined" || strings.HasPrefix(id, "{{"): // a variable without a value
		case len(id) > maxConversationID || strings.ContainsFunc(id, unicode.IsControl):
			return "", invalid("", "invalid_value", "the id of the conversation has more than %d bytes or control characters", maxConversationID)
		default:
			return id, nil
		}
	}
	return "", nil
}

// memoryKey is the member of metadata with the conversation.
const memoryKey = "memory_id"

// newRun returns the request for a run: metadata becomes its labels, and the files of the
// question are stored.
func (q *common) newRun(r *http.Request, c *access.Client, d *dialog) (access.NewRun, error) {
	labels := maps.Clone(q.Metadata)
	delete(labels, memoryKey)
	if err := engine.CheckLabels(labels); err != nil {
		return access.NewRun{}, invalid("metadata", "invalid_value", "metadata: %v", err)
	}
	files, err := store(c, d.files)
	return access.NewRun{
		Key: r.Header.Get("Idempotency-Key"), Question: d.question, Files: files, Parameters: q.Pex.Parameters, Labels: labels, Body: q.body,
	}, err
}
