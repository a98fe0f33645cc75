package call

import (
	"encoding/json"
	"regexp"
)

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// SchemaName makes of a schema's name one that protocols allow: 64 letters,
// digits, _ and - at most.
func SchemaName(s string) string {
	s = notInNames.ReplaceAllString(s, "_")
	if s == "" {
		return "reply"
	}
	return s[:min(len(s), 64)]
}

// Arguments are a call's arguments as a JSON object, where a protocol takes
// nothing else: what is none is shown to the model as the text it wrote.
func Arguments(args json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(args) == 0 {
		return json.RawMessage("{}")
	}
	if json.Unmarshal(args, &fields) == nil && fields != nil {
		return args
	}
	text, err := json.Marshal(map[string]string{"not_an_object": string(args)})
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}
